import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How a receiver of webhooks answers, or does not. */
export type Mood = 'well' | 'hanging' | 'cutting' | 'failing' | 'redirecting' | 'flooding';

export interface Receiver {
  url: string;
  mood: Mood;
  /** Scans that it has said yes to, and the id of the message that told of each. */
  readonly told: Map<string, string>;
  /** Scans that came under more than one id. */
  renamed(): number;
  stop(): Promise<void>;
}

const flood = Buffer.alloc(10 * 1024 * 1024, '.');

const answers: Record<Mood, (response: ServerResponse) => unknown> = {
  well: (response) => response.end('ok'),
  hanging: () => {},
  cutting: (response) => response.socket?.destroy(),
  failing: (response) => response.writeHead(500).end('no'),
  redirecting: (response) => response.writeHead(302, { location: 'http://127.0.0.1:9/elsewhere' }).end(),
  flooding: (response) => response.end(flood),
};
const isYes = (mood: Mood) => mood === 'well' || mood === 'flooding';

/** A receiver of webhooks that remembers every scan it was told of, and can be put in a bad mood. */
export async function startReceiver(): Promise<Receiver> {
  const ids = new Map<string, string>();
  const told = new Map<string, string>();
  const renamed = new Set<string>();
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('error', () => {});
    response.on('error', () => {});
    request.on('end', () => {
      const { data } = JSON.parse(Buffer.concat(pieces).toString()) as { data: { scan_id: string } };
      const id = String(request.headers['webhook-id']);
      if ((ids.get(data.scan_id) ?? id) !== id) renamed.add(data.scan_id);
      ids.set(data.scan_id, id);
      const { mood } = receiver;
      if (isYes(mood)) told.set(data.scan_id, id);
      answers[mood](response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/scans`,
    mood: 'well',
    told,
    renamed: () => renamed.size,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}
