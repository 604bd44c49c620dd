import { EngineError } from './errors.ts';
import type { QueryRequest } from './request.ts';

// Differs from the defaults of chdb where they are not those of a server, or where a query could run forever.
const defaults: Readonly<Record<string, string>> = {
  // On by default in 26.x: rows would be acknowledged before they are stored, and deduplication tokens ignored.
  async_insert: '0',
  max_execution_time: '300',
  // On in chdb: a misspelt keyword would be read as a column name.
  implicit_select: '0',
};

/** The default limit. `SET` is a query too, and its parameters may exceed it. */
const maxQuerySize = 256 * 1024;

/** The statements that prepare a new connection for a query: database, parameters, settings, in this order. */
export function preamble(request: QueryRequest, ofEngine: Readonly<Record<string, string>>): string[] {
  const statements: string[] = [];
  if (request.database && request.database !== 'default') statements.push(`USE ${quoted(request.database, '`')}`);
  const params = [...request.params].map(([name, value]) => assignment(`param_${name}`, value));
  const settings = new Map([...Object.entries(defaults), ...request.settings, ...Object.entries(ofEngine)]);
  if (request.readOnly && !settings.has('readonly')) settings.set('readonly', '2');
  const assignments = [...params, ...[...settings].map(([name, value]) => assignment(name, value))];
  const set = `SET ${assignments.join(', ')}`;
  if (set.length < maxQuerySize / 4) return [...statements, set];
  if (!settings.has('max_query_size')) assignments.push(assignment('max_query_size', String(maxQuerySize)));
  return [...statements, `SET max_query_size = ${set.length * 4}`, `SET ${assignments.join(', ')}`];
}

function assignment(name: string, value: string): string {
  if (!/^\w+$/.test(name)) throw new EngineError(115, 'UNKNOWN_SETTING', `Unknown setting '${name}'`);
  return `${name} = ${quoted(value, "'")}`;
}

/** NUL bytes are escaped, because one would end the statement. */
function quoted(value: string, quote: string): string {
  return quote + value.replaceAll('\\', '\\\\').replaceAll(quote, `\\${quote}`).replaceAll('\0', '\\0') + quote;
}
