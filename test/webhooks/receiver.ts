import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, expect } from 'vitest';
import { eventually } from '../support/eventually.ts';

/** A received POST. */
export interface Received {
  /** The first path segment, which identifies the webhook. */
  to: string;
  id: string;
  headers: Record<string, string>;
  body: string;
  /** When it was received completely. */
  at: number;
}

/** Answers one request over the TCP socket, correctly or not. */
export type Behaviour = (socket: Socket, received: Received) => void | Promise<void>;

export const answer =
  (status: number, body = '', headers: Record<string, string | number> = {}): Behaviour =>
  (socket) => {
    const lines = Object.entries({ 'content-length': Buffer.byteLength(body), ...headers });
    socket.write(`HTTP/1.1 ${status} Whatever\r\n${lines.map(([n, v]) => `${n}: ${v}\r\n`).join('')}\r\n${body}`);
  };

/** Answers as `behaviour` does, each time `count` requests are open. */
export function together(count: number, behaviour: Behaviour): Behaviour {
  const waiting: (() => void)[] = [];
  return async (socket, received) => {
    await new Promise<void>((resolve) => {
      if (waiting.push(resolve) === count) for (const release of waiting.splice(0)) release();
    });
    await behaviour(socket, received);
  };
}

export const hang: Behaviour = () => {};
export const reset: Behaviour = (socket) => void socket.resetAndDestroy();

export interface Receiver {
  port: number;
  /** All received requests, or the requests of one path. */
  received(to?: string): Received[];
  /** Sets how later requests for this path are answered. */
  behave(to: string, behaviour: Behaviour): void;
  /** Closes the connections of unanswered requests for this path. */
  dropOpen(to: string): void;
  /** The maximum number of concurrent unanswered requests for this path. */
  maxConcurrent(to: string): number;
  url(to: string): string;
  /** Waits for `count` requests to one path, and returns them. */
  gets(to: string, count: number): Promise<Received[]>;
}

/** Starts a receiver of webhooks. It implements HTTP on sockets, so that it can answer incorrectly. */
export function useReceiver(): Receiver {
  const all: Received[] = [];
  const behaviours = new Map<string, Behaviour>();
  const open = new Map<string, number>();
  const highest = new Map<string, number>();
  const sockets = new Set<Socket>();
  const unanswered = new Map<Socket, string>();
  let server: Server;

  function serve(socket: Socket): void {
    sockets.add(socket);
    let text = '';
    socket.setEncoding('latin1');
    socket.on('error', () => {});
    let waiting: string | undefined;
    const finish = () => {
      if (waiting !== undefined) open.set(waiting, (open.get(waiting) ?? 0) - 1);
      waiting = undefined;
      unanswered.delete(socket);
    };
    socket.on('close', () => {
      sockets.delete(socket);
      finish();
    });
    socket.on('data', async (chunk) => {
      text += chunk;
      const end = text.indexOf('\r\n\r\n');
      if (end < 0) return;
      const [first = '', ...lines] = text.slice(0, end).split('\r\n');
      const headers = Object.fromEntries(
        lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
      );
      const length = Number(headers['content-length'] ?? 0);
      if (text.length < end + 4 + length) return;
      const body = Buffer.from(text.slice(end + 4, end + 4 + length), 'latin1').toString();
      text = text.slice(end + 4 + length);
      const to = first.split(' ')[1]?.split(/[/?]/)[1] ?? '';
      const received = { to, id: headers['webhook-id'] ?? '', headers, body, at: performance.now() };
      all.push(received);
      waiting = to;
      unanswered.set(socket, to);
      open.set(to, (open.get(to) ?? 0) + 1);
      highest.set(to, Math.max(highest.get(to) ?? 0, open.get(to) ?? 0));
      const written = socket.bytesWritten;
      await (behaviours.get(to) ?? answer(200, 'ok'))(socket, received);
      if (socket.bytesWritten > written || socket.destroyed) finish();
    });
  }

  beforeAll(async () => {
    server = createServer(serve);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    receiver.port = (server.address() as AddressInfo).port;
  });
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  const received = (to?: string) => all.filter((one) => to === undefined || one.to === to);
  const receiver: Receiver = {
    port: 0,
    received,
    dropOpen: (to) => {
      for (const [socket, path] of unanswered) if (path === to) socket.destroy();
    },
    behave: (to, behaviour) => behaviours.set(to, behaviour),
    maxConcurrent: (to) => highest.get(to) ?? 0,
    url: (to) => `http://127.0.0.1:${receiver.port}/${to}`,
    gets: (to, count) =>
      eventually(() => {
        expect(received(to).length, `requests for /${to}`).toBeGreaterThanOrEqual(count);
        return received(to);
      }),
  };
  return receiver;
}
