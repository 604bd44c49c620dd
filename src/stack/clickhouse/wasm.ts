import { AsyncChdb, type AsyncChdbConnection, type ChdbResult } from 'chdb-wasm';
import type { Engine, EngineConnection, EngineResult, RowsInsert } from './engine.ts';
import { cancelled } from './errors.ts';

const rowsFile = '/rows';
/** A value that goes on behind the end of its line, or an empty line, which ends the rows: another statement may follow. */
const endsEarly = /\\\n|\n\r?\n/;
/** About 10,000 scans: for more, the threads that read a file are worth their start. */
const mostInStatement = 2 * 1024 * 1024;

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
    // Ends with its process: there is nothing to keep.
    async close() {},
  };
}

/**
 * The engine takes one step (a query, one chunk of a read) at a time. They are queued here and not in its worker, so
 * that reads with a slow reader take turns with everyone else, and so that a cancellation hits the step it is meant for.
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
    // Said again until it is heard: a query that is only about to start takes the flag down first.
    this.#cancelling = setInterval(() => this.#db.cancel(), 20);
    this.#db.cancel();
  }

  /** The flag is one for the whole engine and only a new query takes it down: open reads would die of it. */
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
    // A copy, because its memory is handed over to the worker, and a Buffer's may be shared with others.
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
 * Rows that can be part of their statement, which takes the engine half the time or less: it reads a file with threads
 * that it starts for it. Only a row a line, for it does not tell how many it took that way. A NUL would end the
 * statement, and bytes that are no text would be others afterwards.
 */
function linesOf(data: Uint8Array): { text: string; count: number } | undefined {
  if (data.length === 0 || data.length > mostInStatement || data.includes(0)) return undefined;
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
