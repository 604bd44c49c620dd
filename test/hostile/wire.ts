import { connect } from 'node:net';

/** What the service sent over one connection, and whether it closed it. */
export interface RawReply {
  text: string;
  statuses: number[];
  /** Undefined if the connection was still open after `timeoutMs`. */
  endedAfterMs: number | undefined;
}

interface SendOptions {
  /** Closes the sending half after the last byte, as `nc` does at the end of its input. */
  halfClose?: boolean;
  /** Closes the connection after the last byte, without waiting for a response. */
  hangUp?: boolean;
  timeoutMs?: number;
}

/** Sends exactly these bytes, which need not be valid HTTP, and reads until the service closes the connection. */
export function sendBytes(url: string, pieces: (string | Uint8Array)[], options: SendOptions = {}): Promise<RawReply> {
  const { halfClose = false, hangUp = false, timeoutMs = 12_000 } = options;
  const started = performance.now();
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true }, () => {
      for (const piece of pieces) socket.write(typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece);
      if (halfClose) socket.end();
      if (hangUp) socket.end(() => over(true));
    });
    const over = (ended: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      const text = Buffer.concat(chunks).toString('latin1');
      const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
      resolve({ text, statuses, endedAfterMs: ended ? performance.now() - started : undefined });
    };
    const timer = setTimeout(() => over(false), timeoutMs);
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', () => over(true));
    socket.on('end', () => over(true));
    socket.on('close', () => over(true));
  });
}

/** The head of a request from its lines. */
export const head = (...lines: string[]) => `${lines.join('\r\n')}\r\n\r\n`;
