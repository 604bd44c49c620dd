import { AsyncChdb, type AsyncChdbConnection, type ChdbResult } from 'chdb-wasm';
import type { Engine, EngineConnection, EngineResult, FileInsert } from './engine.ts';
import { cancelled } from './errors.ts';

const rowsFile = '/rows';

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

  async insert({ sql, data }: FileInsert): Promise<EngineResult> {
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

function result({ data, rowsRead, bytesRead }: ChdbResult): EngineResult {
  return { data, rows: rowsRead, bytes: bytesRead };
}
