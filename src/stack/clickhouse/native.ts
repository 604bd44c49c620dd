import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Session } from 'chdb';
import type { Engine, EngineConnection, RowsInsert } from './engine.ts';
import { cancelled } from './errors.ts';

/** How often ClickHouse measures its own memory. By default 20 times per second, half of what it costs when idle. */
const memoryWorkerPeriod = '--memory_worker_period_ms=1000';
const cancelIntervalMs = 100;
const usersFile = fileURLToPath(new URL('users.xml', import.meta.url));

/** ClickHouse as a library in this process, with its data on disk. */
export async function nativeEngine(dataDir: string, configFile?: string): Promise<Engine> {
  const chdb = await import('chdb');
  mkdirSync(dataDir, { recursive: true });
  // Without a file of the configuration, that of users is not read.
  const connectionArgs = [
    memoryWorkerPeriod,
    `--config-file=${configFile ?? usersFile}`,
    `--users_config=${usersFile}`,
  ];
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
  #cancelling: NodeJS.Timeout | undefined;

  constructor(session: Session, own: Session, rowsDir: string) {
    // chdb does not accept a query id, so cancel() finds the query by its log_comment.
    this.settings = { log_comment: randomUUID() };
    this.#session = session;
    this.#own = own;
    this.#rowsFile = join(rowsDir, this.settings.log_comment);
  }

  async run(sql: string): Promise<Uint8Array> {
    if (this.#cancelled) throw cancelled();
    this.#running = true;
    try {
      return (await this.#session.queryAsync(sql, { format: 'TabSeparated' })).bytes();
    } finally {
      this.#running = false;
      clearInterval(this.#cancelling);
    }
  }

  async insert({ into, format, rows }: RowsInsert): Promise<void> {
    try {
      await writeFile(this.#rowsFile, rows);
      await this.run(`${into} FROM INFILE '${this.#rowsFile}' FORMAT ${format}`);
    } finally {
      await rm(this.#rowsFile, { force: true });
    }
  }

  cancel(): void {
    this.#cancelled = true;
    if (!this.#running || this.#cancelling !== undefined) return;
    // Never SYNC, which hangs the library. The result is ignored: the cancelled query itself fails if this worked.
    const sql = `KILL QUERY WHERE Settings['log_comment'] = '${this.settings.log_comment}' ASYNC`;
    const kill = () => void this.#own.queryAsync(sql).catch(() => {});
    // Repeated until the query ends, because one that is about to start is not found.
    this.#cancelling = setInterval(kill, cancelIntervalMs);
    kill();
  }

  async close(): Promise<void> {
    this.#session.close();
  }
}
