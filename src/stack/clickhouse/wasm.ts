import { AsyncChdb, type AsyncChdbConnection } from 'chdb-wasm';
import type { Engine, EngineConnection, RowsInsert } from './engine.ts';
import { cancelled } from './errors.ts';

const rowsFile = '/rows';
/** A NUL ends a statement, and an empty line its rows, so that another statement could follow. */
const endsEarly = /\0|\n\r?\n/;
/** About 10,000 scans. For more, a file is faster in spite of the threads that the engine starts to read it. */
const maxInlineBytes = 2 * 1024 * 1024;

/** ClickHouse in WebAssembly: in memory only, in a worker thread, one step at a time. */
export async function wasmEngine(): Promise<Engine> {
  const moduleUrl = new URL('./wasm-module.ts', import.meta.url).href;
  const db = await AsyncChdb.create({ moduleUrl });
  const steps = new Steps(db);
  // Kept open, because the engine loses its data when its last connection is closed.
  await db.connect();
  return {
    async connect() {
      return new WasmConnection(db, steps, await steps.take(undefined, () => db.connect()));
    },
    // The engine ends with its process, and its data is in memory only.
    async close() {},
  };
}

/**
 * The engine runs one step at a time, and cancels whatever runs. Steps are queued here and not in its worker, so that a
 * cancellation applies to the right one.
 */
class Steps {
  readonly #db: AsyncChdb;
  #last: Promise<unknown> = Promise.resolve();
  #taker: WasmConnection | undefined;
  #cancelling: NodeJS.Timeout | undefined;

  constructor(db: AsyncChdb) {
    this.#db = db;
  }

  take<T>(taker: WasmConnection | undefined, step: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(async () => {
      this.#taker = taker;
      try {
        return await step();
      } finally {
        this.#taker = undefined;
        clearInterval(this.#cancelling);
        this.#cancelling = undefined;
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
}

class WasmConnection implements EngineConnection {
  /** Not in a pool of threads, which would have to pass each call to the one that has the file system: 40 % less CPU. */
  readonly settings = { local_filesystem_read_method: 'pread' };
  readonly #db: AsyncChdb;
  readonly #steps: Steps;
  readonly #inner: AsyncChdbConnection;
  #cancelled = false;

  constructor(db: AsyncChdb, steps: Steps, inner: AsyncChdbConnection) {
    this.#db = db;
    this.#steps = steps;
    this.#inner = inner;
  }

  run(sql: string): Promise<Uint8Array> {
    return this.#step(() => this.#query(sql));
  }

  /**
   * Appends rows to their statement, if that is possible and they are few, which takes at most half the time of a file, for
   * which the engine starts threads.
   */
  insert({ into, format, rows }: RowsInsert): Promise<void> {
    const text = format === 'TabSeparated' && rows.length <= maxInlineBytes ? rows.toString() : '';
    return this.#step(async () => {
      if (text !== '' && !endsEarly.test(text)) await this.#query(`${into} FORMAT ${format}\n${text}`);
      else await this.#insertFile(`${into} FROM INFILE '${rowsFile}' FORMAT ${format}`, rows);
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

  async #query(sql: string): Promise<Uint8Array> {
    return (await this.#inner.query(sql, 'TabSeparated')).data;
  }

  async #insertFile(sql: string, rows: Buffer): Promise<void> {
    try {
      // A copy, because its memory is transferred to the worker, and a Buffer may share its memory with others.
      await this.#db.putFile(rowsFile, new Uint8Array(rows));
      await this.#query(sql);
    } finally {
      await this.#db.putFile(rowsFile, new Uint8Array(0));
    }
  }
}
