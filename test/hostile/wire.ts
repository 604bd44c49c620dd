import { connect } from 'node:net';

/** What came back over one connection, and whether it ended by itself. */
export interface Heard {
  text: string;
  statuses: number[];
  /** Milliseconds until it was over; undefined when it was still open after `withinMs`. */
  endedAfter: number | undefined;
}

interface Speech {
  /** Ends the sending half when everything is sent, as `nc` does at the end of its input. */
  halfClose?: boolean;
  /** Hangs up when everything is sent, without waiting for an answer. */
  hangUp?: boolean;
  withinMs?: number;
}

/** Says exactly these bytes to the service and listens until it hangs up: for what is no longer HTTP. */
export function say(url: string, pieces: (string | Uint8Array)[], options: Speech = {}): Promise<Heard> {
  const { halfClose = false, hangUp = false, withinMs = 12_000 } = options;
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
      resolve({ text, statuses, endedAfter: ended ? performance.now() - started : undefined });
    };
    const timer = setTimeout(() => over(false), withinMs);
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', () => over(true));
    socket.on('end', () => over(true));
    socket.on('close', () => over(true));
  });
}

/** The lines of a request, as they go over the wire. */
export const head = (...lines: string[]) => `${lines.join('\r\n')}\r\n\r\n`;
