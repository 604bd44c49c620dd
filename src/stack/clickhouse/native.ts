import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChdbResult, Session } from 'chdb';
import type { Engine, EngineConnection, EngineResult, RowsInsert } from './engine.ts';
import { cancelled } from './errors.ts';

/** How often ClickHouse measures its own memory. By default 20 times per second, half of what it costs when idle. */
const memoryWorkerPeriod = '--memory_worker_period_ms=1000';

/** ClickHouse as a library in this process, with its data on disk. */
export async function nativeEngine(dataDir: string, configFile?: string): Promise<Engine> {
  const chdb = await import('chdb');
  mkdirSync(dataDir, { recursive: true });
  const connectionArgs = [memoryWorkerPeriod, ...(configFile === undefined ? [] : [`--config-file=${configFile}`])];
  const options = { connectionArgs };
  // Kept open, because the library shuts the engine down when its last session is closed.
  let own: Session;
  try {
    own = new chdb.Session(dataDir, options);
  } catch (error) {
    throw new Error(`ClickHouse cannot open ${dataDir}: ${reason(dataDir, error)}`, { cause: error });
  }
  const rowsDir = mkdtempSync(join(tmpdir(), 'scanlog-clickhouse-'));
  // INFILE reads these as patterns, and a pattern without a match inserts nothing and reports no error.
  if (/[*?{}]/.test(rowsDir)) throw new Error(`ClickHouse needs a TMPDIR without the characters *?{}: ${rowsDir}`);
  return {
    name: 'native',
    async connect() {
      return new NativeConnection(new chdb.Session(dataDir, options), own, rowsDir);
    },
    async close() {
      await chdb.drainPending();
      own.close();
      rmSync(rowsDir, { recursive: true, force: true });
    },
  };
}

/** chdb reports the cause on stderr only. The process that uses a directory is named in its file `status`. */
function reason(dataDir: string, error: unknown): string {
  try {
    const pid = Number(/^PID: (\d+)/m.exec(readFileSync(join(dataDir, 'status'), 'utf8'))?.[1]);
    process.kill(pid, 0);
    if (pid !== process.pid) return `process ${pid} is using it`;
  } catch {
    // No process uses it.
  }
  return error instanceof Error ? error.message : String(error);
}

class NativeConnection implements EngineConnection {
  readonly settings: { log_comment: string };
  readonly #session: Session;
  readonly #own: Session;
  readonly #rowsFile: string;
  #cancelled = false;
  #running = false;

  constructor(session: Session, own: Session, rowsDir: string) {
    // chdb does not accept a query id, so cancel() finds the query by its log_comment.
    this.settings = { log_comment: randomUUID() };
    this.#session = session;
    this.#own = own;
    this.#rowsFile = join(rowsDir, this.settings.log_comment);
  }

  async run(sql: string, format: string): Promise<EngineResult> {
    return result(await this.#step(() => this.#session.queryAsync(sql, { format })));
  }

  async *stream(sql: string, format: string): AsyncGenerator<Uint8Array> {
    if (this.#cancelled) throw cancelled();
    const stream = this.#session.queryStream(sql, { format });
    const chunks = stream[Symbol.asyncIterator]();
    try {
      for (;;) {
        const chunk = await this.#step(() => chunks.next());
        if (chunk.done) return;
        yield chunk.value.raw();
      }
    } finally {
      await chunks.return?.();
      stream.cancel();
    }
  }

  async insert({ sql, data }: RowsInsert): Promise<EngineResult> {
    try {
      await writeFile(this.#rowsFile, data);
      return await this.run(sql(this.#rowsFile), 'Null');
    } finally {
      await rm(this.#rowsFile, { force: true });
    }
  }

  cancel(): void {
    this.#cancelled = true;
    if (!this.#running) return;
    // Never SYNC, which hangs the library. The result is ignored: the cancelled query itself fails if this worked.
    const sql = `KILL QUERY WHERE Settings['log_comment'] = '${this.settings.log_comment}' ASYNC`;
    void this.#own.queryAsync(sql).catch(() => {});
  }

  async close(): Promise<void> {
    this.#session.close();
  }

  async #step<T>(step: () => Promise<T>): Promise<T> {
    if (this.#cancelled) throw cancelled();
    this.#running = true;
    try {
      return await step();
    } finally {
      this.#running = false;
    }
  }
}

function result(answer: ChdbResult): EngineResult {
  return { data: answer.bytes(), rows: answer.rowsRead, bytes: answer.bytesRead };
}
