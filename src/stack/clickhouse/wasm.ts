import { AsyncChdb, type AsyncChdbConnection, type ChdbResult } from 'chdb-wasm';
import type { Engine, EngineConnection, EngineResult, RowsInsert } from './engine.ts';
import { cancelled } from './errors.ts';

const rowsFile = '/rows';
/** An escaped line break inside a value, or an empty line, which ends the rows so that another statement could follow. */
const endsEarly = /\\\n|\n\r?\n/;
/** About 10,000 scans. For more, a file is faster in spite of the threads that the engine starts to read it. */
const maxInlineBytes = 2 * 1024 * 1024;

/** ClickHouse in WebAssembly: in memory only, in a worker thread, one step at a time. */
export async function wasmEngine(): Promise<Engine> {
  const moduleUrl = new URL('./wasm-module.ts', import.meta.url).href;
  const db = await AsyncChdb.create({ moduleUrl });
  const steps = new Steps(db, await db.connect());
  return {
    name: 'wasm',
    async connect() {
      return new WasmConnection(db, steps, await steps.take(undefined, () => db.connect()));
    },
    // The engine ends with its process, and its data is in memory only.
    async close() {},
  };
}

/**
 * The engine runs one step (a query, one chunk of a read) at a time. Steps are queued here and not in its worker, so that
 * a read by a slow client alternates with other queries, and a cancellation applies to the right step.
 */
class Steps {
  readonly #db: AsyncChdb;
  readonly #own: AsyncChdbConnection;
  #last: Promise<unknown> = Promise.resolve();
  #taker: WasmConnection | undefined;
  #cancelling: NodeJS.Timeout | undefined;

  constructor(db: AsyncChdb, own: AsyncChdbConnection) {
    this.#db = db;
    this.#own = own;
  }

  take<T>(taker: WasmConnection | undefined, step: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(async () => {
      this.#taker = taker;
      try {
        return await step();
      } finally {
        this.#taker = undefined;
        await this.#forgetCancelling();
      }
    });
    this.#last = mine.catch(() => {});
    return mine;
  }

  cancelStepOf(taker: WasmConnection): void {
    if (this.#taker !== taker || this.#cancelling !== undefined) return;
    // Repeated until the step ends, because a query that is about to start clears the flag first.
    this.#cancelling = setInterval(() => this.#db.cancel(), 20);
    this.#db.cancel();
  }

  /** The engine has only one flag, which only a new query clears: without this, open reads would be cancelled too. */
  async #forgetCancelling(): Promise<void> {
    if (this.#cancelling === undefined) return;
    clearInterval(this.#cancelling);
    this.#cancelling = undefined;
    await this.#own.query('SELECT 1');
  }
}

class WasmConnection implements EngineConnection {
  readonly settings = {};
  readonly #db: AsyncChdb;
  readonly #steps: Steps;
  readonly #inner: AsyncChdbConnection;
  #cancelled = false;

  constructor(db: AsyncChdb, steps: Steps, inner: AsyncChdbConnection) {
    this.#db = db;
    this.#steps = steps;
    this.#inner = inner;
  }

  async run(sql: string, format: string): Promise<EngineResult> {
    return result(await this.#step(() => this.#inner.query(sql, format)));
  }

  async *stream(sql: string, format: string): AsyncGenerator<Uint8Array> {
    const chunks = this.#inner.queryStream(sql, format);
    try {
      for (;;) {
        const chunk = await this.#step(() => chunks.next());
        if (chunk.done) return;
        yield chunk.value.data;
      }
    } finally {
      await this.#steps.take(undefined, () => chunks.return(undefined));
    }
  }

  async insert({ sql, format, data }: RowsInsert): Promise<EngineResult> {
    const lines = format === 'TabSeparated' ? linesOf(data) : undefined;
    if (lines !== undefined) {
      await this.#step(() => this.#inner.query(`${sql()}\n${lines.text}`, 'Null'));
      return { data: new Uint8Array(0), rows: lines.count, bytes: data.length };
    }
    // A copy, because its memory is transferred to the worker, and a Buffer may share its memory with others.
    const rows = new Uint8Array(data);
    return this.#step(async () => {
      try {
        await this.#db.putFile(rowsFile, rows);
        return result(await this.#inner.query(sql(rowsFile), 'Null'));
      } finally {
        await this.#db.putFile(rowsFile, new Uint8Array(0));
      }
    });
  }

  cancel(): void {
    this.#cancelled = true;
    this.#steps.cancelStepOf(this);
  }

  close(): Promise<void> {
    return this.#steps.take(undefined, () => this.#inner.close());
  }

  #step<T>(step: () => Promise<T>): Promise<T> {
    return this.#steps.take(this, () => {
      if (this.#cancelled) throw cancelled();
      return step();
    });
  }
}

/**
 * The rows as text to append to their statement, which takes at most half the time of a file, for which the engine starts
 * threads. Undefined if that is not possible: each line must be a row, because the engine does not report the number of
 * rows this way; a NUL would end the statement; bytes that are not UTF-8 would be changed.
 */
function linesOf(data: Uint8Array): { text: string; count: number } | undefined {
  if (data.length === 0 || data.length > maxInlineBytes || data.includes(0)) return undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data);
    if (endsEarly.test(text)) return undefined;
    let count = text.endsWith('\n') ? 0 : 1;
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++;
    return { text, count };
  } catch {
    return undefined;
  }
}

function result({ data, rowsRead, bytesRead }: ChdbResult): EngineResult {
  return { data, rows: rowsRead, bytes: bytesRead };
}
