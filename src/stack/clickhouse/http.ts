import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Semaphore } from '../../lib/semaphore.ts';
import { Answer } from './answer.ts';
import type { Engine } from './engine.ts';
import { cancelled, EngineError } from './errors.ts';
import { checkQueryString, isUriTooLong } from './form-limits.ts';
import { header, readRequest } from './request.ts';
import { runAlone } from './run.ts';
import { readStatement } from './statement.ts';

export interface HttpOptions {
  engine: Engine;
  version: string;
  timezone: string;
  password: string;
}

// More gain nothing, and each open read takes some of the sixteen threads of chdb-wasm.
const maxConcurrent = 4;
const maxWaiting = 100;
/** Node counts the URL, which may have 1 MiB, as part of the headers. */
const maxHeaderSize = 2 * 1024 * 1024;
/**
 * Longer than the 2.5 s of the client, so that the client always closes an idle connection first. The native engine plans
 * reads on this thread, and a timer that expired meanwhile would fire before a request that arrived earlier is read.
 */
const keepAliveTimeout = 120_000;

/** ClickHouse's HTTP interface, as far as `@clickhouse/client` uses it, in front of an engine. */
export function clickhouseServer({ engine, version, timezone, password }: HttpOptions): Server {
  // Separate, so that inserts never wait for slow readers.
  const reads = new Semaphore(maxConcurrent, maxWaiting);
  const writes = new Semaphore(maxConcurrent, maxWaiting);

  async function answerQuery(message: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const answer = new Answer(response, version);
    const gone = new AbortController();
    response.once('close', () => gone.abort(cancelled()));
    let id: string | undefined;
    try {
      checkQueryString(message.url ?? '/');
      authenticate(message, url, password);
      const request = await readRequest(message, url);
      id = request.id;
      const statement = readStatement(request.query, request.body);
      const release = await (statement.kind === 'select' ? reads : writes).acquire(gone.signal);
      try {
        await runAlone(engine, request, statement, answer, gone.signal);
      } finally {
        release();
      }
    } catch (error) {
      answer.fail(error, id);
    }
  }

  return createServer({ maxHeaderSize, keepAliveTimeout }, (message, response) => {
    response.setHeader('x-clickhouse-server-display-name', `scanlog-${engine.name}`);
    response.setHeader('x-clickhouse-timezone', timezone);
    if (isUriTooLong(message.url ?? '/')) {
      response.writeHead(400, { connection: 'close' }).end();
      return;
    }
    const url = new URL(message.url ?? '/', 'http://127.0.0.1');
    const isQuery = url.pathname === '/' && (message.method === 'POST' || url.searchParams.has('query'));
    if (isQuery) void answerQuery(message, response, url);
    else if (url.pathname === '/' || url.pathname === '/ping') response.end('Ok.\n');
    else response.writeHead(404).end(`There is no handle ${url.pathname}\n`);
  });
}

function authenticate(message: IncomingMessage, url: URL, password: string): void {
  const basic = /^Basic (.+)$/i.exec(header(message, 'authorization') ?? '')?.[1];
  const [, user, key] = /^([^:]*):(.*)$/s.exec(Buffer.from(basic ?? '', 'base64').toString()) ?? [];
  const givenUser = user ?? header(message, 'x-clickhouse-user') ?? url.searchParams.get('user') ?? 'default';
  const givenKey = key ?? header(message, 'x-clickhouse-key') ?? url.searchParams.get('password') ?? '';
  const digest = (text: string) => createHash('sha256').update(text).digest();
  if (givenUser === 'default' && timingSafeEqual(digest(givenKey), digest(password))) return;
  const sentence = 'Authentication failed: password is incorrect, or there is no user with such name';
  throw new EngineError(516, 'AUTHENTICATION_FAILED', `${givenUser}: ${sentence}`);
}
