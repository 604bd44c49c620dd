import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { acceptedCodec, type Codec, decoder } from './codecs.ts';
import { EngineError, notImplemented } from './errors.ts';
import { checkMultipart } from './form-limits.ts';

/** One query of the HTTP interface. */
export interface QueryRequest {
  id: string;
  query: Buffer;
  /** What follows the query: rows, or nothing. */
  body: Buffer;
  database: string | undefined;
  /** Used if the statement has no FORMAT clause. */
  format: string;
  /** Values as the client escaped them, by name. */
  params: Map<string, string>;
  settings: Map<string, string>;
  readOnly: boolean;
  /** Whether to send the response only when it is complete, so that any error can set the status. */
  inOnePiece: boolean;
  codec: Codec | undefined;
}

/** A request is kept in memory until the engine reads it. Clients must split larger inserts. */
const maxBodyBytes = 256 * 1024 * 1024;

// Parameters of the HTTP interface. The engine would refuse them as unknown settings.
const httpParameters = new Set(
  ['query', 'query_id', 'database', 'default_format', 'user', 'password', 'quota_key', 'stacktrace'].concat([
    'buffer_size',
    'wait_end_of_query',
    'client_protocol_version',
  ]),
);
const refused = ['session_id', 'role', 'compress', 'decompress'];

export async function readRequest(message: IncomingMessage, url: URL): Promise<QueryRequest> {
  const fields = url.searchParams;
  let body = await readBody(message);
  const type = message.headers['content-type'];
  if (type?.startsWith('multipart/form-data')) {
    const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
    const texts = [...form].flatMap(([name, value]): [string, string][] =>
      typeof value === 'string' ? [[name, value]] : [],
    );
    checkMultipart(texts);
    for (const [name, value] of texts) fields.append(name, value);
    body = Buffer.alloc(0);
  }
  for (const name of refused) {
    if (!['', '0', null].includes(fields.get(name)))
      throw notImplemented(`The parameter ${name} of the HTTP interface`);
  }
  const query = Buffer.from(fields.get('query') ?? '');
  const inUrl = query.length > 0;
  if (!inUrl && body.length === 0) throw new EngineError(62, 'SYNTAX_ERROR', 'Syntax error: the query is empty');
  return {
    id: fields.get('query_id') || randomUUID(),
    query: inUrl ? query : body,
    body: inUrl ? body : Buffer.alloc(0),
    database: fields.get('database') ?? header(message, 'x-clickhouse-database'),
    format: fields.get('default_format') ?? header(message, 'x-clickhouse-format') ?? 'TabSeparated',
    ...split(fields),
    readOnly: message.method === 'GET',
    inOnePiece: fields.get('wait_end_of_query') === '1',
    codec: fields.get('enable_http_compression') === '1' ? acceptedCodec(message) : undefined,
  };
}

export function header(message: IncomingMessage, name: string): string | undefined {
  const value = message.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function split(fields: URLSearchParams): Pick<QueryRequest, 'params' | 'settings'> {
  const params = new Map<string, string>();
  const settings = new Map<string, string>();
  for (const [name, value] of fields) {
    if (name.startsWith('param_')) params.set(name.slice('param_'.length), value);
    else if (!httpParameters.has(name) && !refused.includes(name)) settings.set(name, value);
  }
  return { params, settings };
}

async function readBody(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of decoder(message)) {
    size += chunk.length;
    // Still reads to the end: a client that is cut off while sending does not see the error.
    if (size <= maxBodyBytes) chunks.push(chunk);
    else chunks.length = 0;
  }
  if (size > maxBodyBytes)
    throw new EngineError(290, 'LIMIT_EXCEEDED', `The request is larger than ${maxBodyBytes} bytes`);
  // If the client disconnects while sending, none of its rows may be stored.
  if (!message.complete) throw new EngineError(210, 'NETWORK_ERROR', 'The request ended before it was complete');
  return Buffer.concat(chunks);
}
