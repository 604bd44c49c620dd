import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Semaphore } from '../../lib/semaphore.ts';
import type { Engine } from './engine.ts';
import { cancelled, errorText, unauthenticated } from './errors.ts';
import { readRequest } from './request.ts';
import { Statements } from './run.ts';

/** More gain nothing. */
const maxConcurrent = 4;
const maxWaiting = 100;
/** Node counts the URL, which has the parameters of a statement, as part of the headers. */
const maxHeaderSize = 2 * 1024 * 1024;
/**
 * So much longer than the 2.5 s of the client that the client always closes an idle connection first. After this thread was
 * busy, an expired timer would fire before a request that arrived earlier is read.
 */
const keepAliveTimeout = 120_000;

/** The part of ClickHouse's HTTP interface through which the service uses `@clickhouse/client`, in front of an engine. */
export function clickhouseServer(engine: Engine, password: string): Server {
  // Separate, so that inserts never wait for reads.
  const reads = new Semaphore(maxConcurrent, maxWaiting);
  const writes = new Semaphore(maxConcurrent, maxWaiting);
  const statements = new Statements(engine);
  const authorization = `Basic ${Buffer.from(`default:${password}`).toString('base64')}`;

  async function run(message: IncomingMessage, url: URL, gone: AbortSignal): Promise<Uint8Array> {
    if (!isEqual(message.headers.authorization ?? '', authorization)) throw unauthenticated();
    const request = await readRequest(message, url);
    const release = await (request.isRead ? reads : writes).acquire(gone);
    try {
      return await statements.run(request, gone);
    } finally {
      release();
    }
  }

  async function answer(message: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const gone = new AbortController();
    response.once('close', () => gone.abort(cancelled()));
    const [status, body] = await run(message, url, gone.signal).then(
      (result) => [200, result] as const,
      (error) => [500, errorText(error)] as const,
    );
    if (!response.destroyed) response.writeHead(status).end(body);
  }

  return createServer({ maxHeaderSize, keepAliveTimeout }, (message, response) => {
    const url = new URL(message.url ?? '/', 'http://127.0.0.1');
    if (url.pathname === '/ping') response.end('Ok.\n');
    else void answer(message, response, url);
  });
}

function isEqual(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
