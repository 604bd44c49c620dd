import { connect } from 'node:net';
import { timeouts } from '../../src/lib/timeouts.ts';

/** One HTTP connection that carries one request at a time. */
export interface Connection {
  /** Resolves with the response's status; rejects if the connection ends first. */
  get(path: string, headers: Record<string, string>): Promise<number>;
  close(): void;
}

/**
 * A minimal HTTP client. Common clients silently retry a request when the connection ends before the response; the
 * retry would be stored as a second scan, which looks like a duplicate made by the service.
 */
export function openConnection(port: number, timeoutMs = timeouts.idleConnectionMs): Connection {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  let pending: { resolve(status: number): void; reject(reason: Error): void } | undefined;
  let ended: Error | undefined;

  const end = (reason: Error) => {
    ended ??= reason;
    pending?.reject(ended);
    pending = undefined;
  };
  socket.setTimeout(timeoutMs, () => socket.destroy());
  socket.on('error', end);
  socket.on('close', () => end(new Error('the connection ended')));
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
    const head = received.indexOf('\r\n\r\n');
    if (head < 0) return;
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(received.slice(0, head))?.[1] ?? 0);
    if (received.length < head + 4 + length) return;
    const status = Number(received.slice(9, 12));
    received = '';
    pending?.resolve(status);
    pending = undefined;
  });

  return {
    get: (path, headers) =>
      new Promise((resolve, reject) => {
        if (ended !== undefined) return reject(ended);
        pending = { resolve, reject };
        const lines = Object.entries({ host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}`);
        socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
      }),
    close: () => socket.destroy(),
  };
}
