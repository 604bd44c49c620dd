import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How the receiver responds to deliveries. */
export type ReceiverMode = 'ok' | 'hanging' | 'cutting' | 'failing' | 'redirecting' | 'flooding';

export interface Receiver {
  url: string;
  mode: ReceiverMode;
  /** Ids of the scans that it answered with a 2xx. */
  readonly accepted: ReadonlySet<string>;
  /** The number of scans received under more than one `webhook-id`. */
  inconsistentIds(): number;
  stop(): Promise<void>;
}

const flood = Buffer.alloc(10 * 1024 * 1024, '.');

const respond: Record<ReceiverMode, (response: ServerResponse) => unknown> = {
  ok: (response) => response.end('ok'),
  hanging: () => {},
  cutting: (response) => response.socket?.destroy(),
  failing: (response) => response.writeHead(500).end('no'),
  redirecting: (response) => response.writeHead(302, { location: 'http://127.0.0.1:9/elsewhere' }).end(),
  flooding: (response) => response.end(flood),
};
const isSuccess = (mode: ReceiverMode) => mode === 'ok' || mode === 'flooding';

/** Starts a webhook receiver that records every scan; setting `mode` makes it misbehave. */
export async function startReceiver(): Promise<Receiver> {
  const firstIds = new Map<string, string>();
  const accepted = new Set<string>();
  const inconsistent = new Set<string>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => {});
    response.on('error', () => {});
    request.on('end', () => {
      const { data } = JSON.parse(Buffer.concat(chunks).toString()) as { data: { scan_id: string } };
      const id = String(request.headers['webhook-id']);
      const firstId = firstIds.get(data.scan_id);
      if (firstId === undefined) firstIds.set(data.scan_id, id);
      else if (firstId !== id) inconsistent.add(data.scan_id);
      const { mode } = receiver;
      if (isSuccess(mode)) accepted.add(data.scan_id);
      respond[mode](response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/scans`,
    mode: 'ok',
    accepted,
    inconsistentIds: () => inconsistent.size,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}
