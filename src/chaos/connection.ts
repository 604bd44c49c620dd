import { connect } from 'node:net';

/** One connection, one request at a time. */
export interface Connection {
  /** The status of the answer; rejects when none came. */
  ask(path: string, headers: Record<string, string>): Promise<number>;
  close(): void;
}

/**
 * HTTP by hand: the usual clients send a request again, without a word, when a connection ends before its answer. Then one
 * scan would rightly be stored twice, and nobody could tell it from a fault.
 */
export function openConnection(port: number, withinMs = 20_000): Connection {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  let open: { resolve(status: number): void; reject(reason: Error): void } | undefined;
  let ended: Error | undefined;

  const end = (reason: Error) => {
    ended ??= reason;
    open?.reject(ended);
    open = undefined;
  };
  socket.setTimeout(withinMs, () => socket.destroy());
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
    open?.resolve(status);
    open = undefined;
  });

  return {
    ask: (path, headers) =>
      new Promise((resolve, reject) => {
        if (ended !== undefined) return reject(ended);
        open = { resolve, reject };
        const lines = Object.entries({ host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}`);
        socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
      }),
    close: () => socket.destroy(),
  };
}
