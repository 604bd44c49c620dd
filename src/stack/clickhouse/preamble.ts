import { EngineError } from './errors.ts';
import type { QueryRequest } from './request.ts';

// Where the engine's own defaults are not those of a server, or would let a query run for ever.
const defaults: Readonly<Record<string, string>> = {
  // On by default in 26.x: rows would be acknowledged by a buffer, and tokens would not be compared with those before.
  async_insert: '0',
  max_execution_time: '300',
  // On in chdb: a misspelt keyword would be taken for a column.
  implicit_select: '0',
};

/** `SET` is itself a query, and parameters may be longer than one may be. */
const maxQuerySize = 256 * 1024;

/** What makes a fresh connection ready for a query: its database, its parameters, its settings, in this order. */
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

/** A NUL byte would end the statement on its way into the engine. */
function quoted(value: string, quote: string): string {
  return quote + value.replaceAll('\\', '\\\\').replaceAll(quote, `\\${quote}`).replaceAll('\0', '\\0') + quote;
}
