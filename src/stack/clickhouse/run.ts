import type { Engine, EngineConnection } from './engine.ts';
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

/** As many as statements run at a time. */
const maxIdle = 8;

/** A connection, and what was set on it. */
interface Prepared {
  connection: EngineConnection;
  values: ReadonlyMap<string, string>;
}

/**
 * Runs each statement on a connection of its own, or on one of an earlier statement that had the same settings and parameters,
 * whatever their values: opening and preparing a connection takes about as long as a small read.
 */
export class Statements {
  readonly #engine: Engine;
  /** The one that was used last at the end. */
  readonly #idle: Prepared[] = [];

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async run(request: StatementRequest, gone: AbortSignal): Promise<Uint8Array> {
    const asked = new Map([...Object.entries(defaultSettings), ...request.settings, ...request.params]);
    const { connection, values } = this.#takeIdle(asked) ?? {
      connection: await this.#engine.connect(),
      values: new Map(),
    };
    const wanted = withOwn(asked, connection);
    const cancel = () => connection.cancel();
    if (request.isRead) {
      gone.addEventListener('abort', cancel, { once: true });
      // The event may have fired before the listener was added.
      if (gone.aborted) cancel();
    }
    let isKept = false;
    try {
      const sets = setStatements([...wanted].filter(([name, value]) => values.get(name) !== value));
      for (const set of sets) await connection.run(set);
      const result = await runOn(connection, request.statement);
      // Any other statement may change its connection. Long values are freed with theirs.
      const leavesAsSet = request.isRead || typeof request.statement !== 'string';
      isKept = leavesAsSet && sets.length <= 1 && !gone.aborted;
      return result;
    } finally {
      gone.removeEventListener('abort', cancel);
      if (isKept) await this.#keep({ connection, values: wanted });
      else await connection.close();
    }
  }

  #takeIdle(asked: ReadonlyMap<string, string>): Prepared | undefined {
    const at = this.#idle.findLastIndex(({ connection, values }) => {
      const wanted = withOwn(asked, connection);
      return values.size === wanted.size && [...wanted.keys()].every((name) => values.has(name));
    });
    return at < 0 ? undefined : this.#idle.splice(at, 1)[0];
  }

  async #keep(prepared: Prepared): Promise<void> {
    this.#idle.push(prepared);
    if (this.#idle.length > maxIdle) await this.#idle.shift()?.connection.close();
  }
}

/** The engine's own settings win over those of a statement. */
const withOwn = (asked: ReadonlyMap<string, string>, connection: EngineConnection): ReadonlyMap<string, string> =>
  new Map([...asked, ...Object.entries(connection.settings)]);

async function runOn(connection: EngineConnection, statement: StatementRequest['statement']): Promise<Uint8Array> {
  if (typeof statement === 'string') return connection.run(statement);
  await connection.insert(statement);
  return new Uint8Array(0);
}

function setStatements(values: [name: string, value: string][]): string[] {
  if (values.length === 0) return [];
  const set = `SET ${values.map(([name, value]) => `${name} = ${quoted(value)}`).join(', ')}`;
  const bytes = Buffer.byteLength(set);
  if (bytes < maxQuerySize) return [set];
  return [`SET max_query_size = ${2 * bytes}`, `${set}, max_query_size = ${maxQuerySize}`];
}

/** NUL bytes are escaped, because one would end the statement. */
const quoted = (value: string) => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\0', '\\0')}'`;
