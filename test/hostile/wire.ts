import { connect } from 'node:net';
import { eventually } from '../support/eventually.ts';

/** What the service sent over one connection, until it was closed. */
export interface RawReply {
  text: string;
  statuses: number[];
}

interface SendOptions {
  /** Closes the sending half after the last byte, as `nc` does at the end of its input. */
  halfClose?: boolean;
  /** Closes the connection after the last byte, without waiting for a response. */
  hangUp?: boolean;
}

/**
 * Sends exactly these bytes, which need not be valid HTTP, and reads until the service closes the connection. Fails if it
 * stays open.
 */
export async function sendBytes(
  url: string,
  pieces: (string | Uint8Array)[],
  { halfClose = false, hangUp = false }: SendOptions = {},
): Promise<RawReply> {
  const closed = Promise.withResolvers<void>();
  const chunks: Buffer[] = [];
  const text = () => Buffer.concat(chunks).toString('latin1');
  let isClosed = false;
  const close = () => {
    isClosed = true;
    socket.destroy();
    closed.resolve();
  };
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true }, () => {
    for (const piece of pieces) socket.write(bytesOf(piece));
    if (halfClose) socket.end();
    if (hangUp) socket.end(close);
  });
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  for (const event of ['error', 'end', 'close']) socket.on(event, close);
  const limit = eventually(() => {
    if (!isClosed) throw new Error(`the service keeps the connection open, after sending "${text()}"`);
  });
  await Promise.race([closed.promise, limit]);
  return { text: text(), statuses: [...text().matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status)) };
}

/** Sends a request and reads nothing; returns a function that ends the connection. */
export function sendWithoutReading(url: string, request: string): () => void {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' }, () => socket.write(request));
  socket.pause();
  return () => socket.destroy();
}

const bytesOf = (piece: string | Uint8Array) => (typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece);

/** The head of a request from its lines. */
export const head = (...lines: string[]) => `${lines.join('\r\n')}\r\n\r\n`;
