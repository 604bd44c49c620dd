import type { Engine } from './engine.ts';
import type { StatementRequest } from './request.ts';

/** Where chdb and a server have different defaults, or where a statement could run forever. */
const defaultSettings: Readonly<Record<string, string>> = {
  // On by default in 26.x: rows would be acknowledged before they are stored, and deduplication tokens ignored.
  async_insert: '0',
  max_execution_time: '300',
  // On in chdb: a misspelt keyword would be read as a column name.
  implicit_select: '0',
};

/** The default of ClickHouse. `SET` is a statement too, and its parameters may be longer. */
const maxQuerySize = 256 * 1024;

/** Runs a statement on a connection of its own, and returns the result. */
export async function runAlone(engine: Engine, request: StatementRequest, gone: AbortSignal): Promise<Uint8Array> {
  const connection = await engine.connect();
  const cancel = () => connection.cancel();
  if (request.isRead) {
    gone.addEventListener('abort', cancel, { once: true });
    // The event may have fired before the listener was added.
    if (gone.aborted) cancel();
  }
  try {
    for (const set of setStatements(request, connection.settings)) await connection.run(set);
    if (typeof request.statement === 'string') return await connection.run(request.statement);
    await connection.insert(request.statement);
    return new Uint8Array(0);
  } finally {
    gone.removeEventListener('abort', cancel);
    await connection.close();
  }
}

function setStatements({ params, settings }: StatementRequest, ofEngine: Readonly<Record<string, string>>): string[] {
  const all = new Map([...Object.entries(defaultSettings), ...settings, ...Object.entries(ofEngine), ...params]);
  const set = `SET ${[...all].map(([name, value]) => `${name} = ${quoted(value)}`).join(', ')}`;
  const bytes = Buffer.byteLength(set);
  if (bytes < maxQuerySize) return [set];
  return [`SET max_query_size = ${2 * bytes}`, `${set}, max_query_size = ${maxQuerySize}`];
}

/** NUL bytes are escaped, because one would end the statement. */
const quoted = (value: string) => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\0', '\\0')}'`;
