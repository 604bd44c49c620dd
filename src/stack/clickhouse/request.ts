import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { RowsInsert } from './engine.ts';
import { valueTooLong } from './errors.ts';

/** A statement as `@clickhouse/client` sends it. */
export interface StatementRequest {
  statement: string | RowsInsert;
  /** Only reads are cancelled when the client disconnects: a write is completed, never applied in part. */
  isRead: boolean;
  /** Values as the client escaped them, by the name with its prefix `param_`. */
  params: [name: string, value: string][];
  settings: [name: string, value: string][];
}

/** ClickHouse's `http_max_field_value_size`. Enforced here too, so that tests find a statement that a server would refuse. */
const maxValueBytes = 131_072;

/** Fields of the URL that are not settings. Results are always sent when they are complete. */
const httpFields = new Set(['query', 'query_id', 'wait_end_of_query']);

/**
 * Reads a request of one of three forms: a statement as the body; an INSERT in the URL with its rows as the body; or a
 * multipart form of the statement and its parameters.
 */
export async function readRequest(message: IncomingMessage, url: URL): Promise<StatementRequest> {
  checkEncoded(url.search);
  const fields = [...url.searchParams];
  // Rejects if the client disconnects while it sends: none of its rows may be stored.
  const body = await buffer(message);
  const type = message.headers['content-type'];
  const form = type?.startsWith('multipart/form-data') ? await readForm(type, body) : undefined;
  const query = url.searchParams.get('query');
  const statement =
    query === null ? (form?.find(([name]) => name === 'query')?.[1] ?? body.toString()) : withRows(query, body);
  const all = [...fields, ...(form ?? [])].filter(([name]) => !httpFields.has(name));
  return {
    statement,
    isRead: typeof statement === 'string' && /^\s*(?:SELECT|WITH)\b/i.test(statement),
    params: all.filter(([name]) => name.startsWith('param_')),
    settings: all.filter(([name]) => !name.startsWith('param_')),
  };
}

/** The limit counts encoded bytes in a URL, and decoded ones in a form. */
function checkEncoded(search: string): void {
  for (const field of search.slice(1).split('&')) {
    const [name = '', value = ''] = field.split('=');
    if (value.length > maxValueBytes) throw valueTooLong(name, maxValueBytes);
  }
}

async function readForm(type: string, body: Buffer): Promise<[name: string, value: string][]> {
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
  return [...form].map(([name, value]) => {
    const text = String(value);
    if (name !== 'query' && Buffer.byteLength(text) > maxValueBytes) throw valueTooLong(name, maxValueBytes);
    return [name, text];
  });
}

/** The client ends such an INSERT with its FORMAT clause. */
function withRows(query: string, rows: Buffer): RowsInsert {
  const [, into, format] = /^(.+)\sFORMAT (\w+)$/s.exec(query) ?? [];
  if (into === undefined || format === undefined)
    throw new Error(`Only an INSERT that ends with FORMAT has rows: ${query.slice(0, 100)}`);
  return { into, format, rows };
}
