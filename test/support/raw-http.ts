import { connect } from 'node:net';

export interface RawResponse {
  status: number;
  headers: Headers;
  text: string;
}

/** Sends exactly these lines and bytes, which an HTTP client would refuse to send, and reads one response. */
export function sendRaw(url: string, head: string[], body: string | Uint8Array = ''): Promise<RawResponse> {
  const { port } = new URL(url);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(Number(port), '127.0.0.1', () => {
      socket.write(`${[...head, 'Connection: close'].join('\r\n')}\r\n\r\n`);
      socket.write(body);
    });
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => {
      try {
        resolve(parse(Buffer.concat(chunks).toString()));
      } catch (error) {
        reject(error);
      }
    });
  });
}

function parse(response: string): RawResponse {
  const [head = '', ...rest] = response.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(statusLine) ?? [];
  if (status === undefined) throw new Error(`the response is not HTTP: ${JSON.stringify(response.slice(0, 200))}`);
  const headers = new Headers(
    lines.map((line) => (/^([^:]*): *(.*)$/.exec(line) ?? []).slice(1, 3) as [string, string]),
  );
  return { status: Number(status), headers, text: rest.join('\r\n\r\n') };
}
