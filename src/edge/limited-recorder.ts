import { type Code, reachLimit } from '../../events/code.ts';
import type { CodeChanged, CodeEvent } from '../../events/code-events.ts';
import { type Recorded, service } from '../../events/recorded.ts';
import type { Scan } from '../../events/scan.ts';
import { writeState } from '../../projections/state.ts';
import type { Clock } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import type { Sql } from '../lib/sql.ts';
import { appendLimitedScans } from '../log/append-limited-scans.ts';
import { decideAndAppend } from '../log/decide.ts';
import type { KnownRoute, Routes } from './routes.ts';

interface LimitedRecorderOptions {
  sql: Sql;
  routes: Routes;
  clock: Clock;
  log: Logger;
  /** Called after scans are stored. */
  onScans(): void;
  /** Called after the end of a limit is appended. */
  onAppended(): void;
}

interface WaitingScan {
  route: KnownRoute;
  scan: Scan;
  resolve(isStored: boolean): void;
  reject(error: unknown): void;
}

const maxBatchSize = 500;
const maxWaiting = 5_000;

/**
 * Records scans of codes with `max_scans`. The statement that appends them decides which are within the limit, so all
 * instances together are exact. They never go to the spool: without Postgres, no one knows how many are left.
 */
export class LimitedRecorder {
  readonly #options: LimitedRecorderOptions;
  #waiting: WaitingScan[] = [];
  #running: Promise<void> | undefined;
  readonly #announcing = new Map<string, Promise<void>>();

  constructor(options: LimitedRecorderOptions) {
    this.#options = options;
  }

  /** Whether the scan was within the limit, and is stored. Rejects while Postgres does not answer. */
  record(route: KnownRoute, scan: Scan): Promise<boolean> {
    if (this.#waiting.length >= maxWaiting)
      return Promise.reject(new Error(`${maxWaiting} scans of codes with a limit already wait for Postgres`));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ route, scan, resolve, reject });
      this.#running ??= Promise.resolve().then(() => this.#run());
    });
  }

  async stop(): Promise<void> {
    await this.#running;
    await Promise.all(this.#announcing.values());
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, maxBatchSize);
      try {
        await this.#store(batch);
      } catch (error) {
        // Those that wait would only wait longer for the same failure.
        for (const { reject } of [...batch, ...this.#waiting.splice(0)]) reject(error);
      }
    }
    this.#running = undefined;
  }

  async #store(batch: WaitingScan[]): Promise<void> {
    const { stored, reached } = await appendLimitedScans(
      this.#options.sql,
      batch.map(({ scan }) => scan),
    );
    for (const { route } of batch)
      if (reached.has(route.code)) {
        this.#options.routes.reachLimit(route);
        this.#announce(route.code);
      }
    for (const { scan, resolve } of batch) resolve(stored.has(scan.id));
    if (stored.size > 0) this.#options.onScans();
  }

  /** Appends `limit_reached`, which tells all edges. If this process dies before, the next refused scan does it. */
  #announce(code: string): void {
    if (this.#announcing.has(code)) return;
    const { sql, routes, clock, log, onAppended } = this.#options;
    const announced = announceLimit(sql, code, clock())
      .then((events) => {
        routes.apply(events);
        onAppended();
      })
      .catch((error) =>
        log.warn({ error: messageOf(error), code }, 'the end of a limit could not be appended to the log'),
      )
      .finally(() => this.#announcing.delete(code));
    this.#announcing.set(code, announced);
  }
}

interface UsedCode extends Code {
  used: number;
}

async function announceLimit(sql: Sql, id: string, now: Date): Promise<Recorded<CodeEvent>[]> {
  const { recorded } = await decideAndAppend<UsedCode, CodeChanged>(sql, id, {
    load: async () => {
      const [code] = await sql<UsedCode[]>`
        SELECT c.*, l.used FROM codes c JOIN limited_scans l ON l.code = c.id WHERE c.id = ${id}`;
      if (code === undefined) throw new Error('it has no limit');
      return code;
    },
    decide: (code) => (code.status === 'deleted' ? [] : reachLimit(code, code.used)),
    project: (tx, { used: _, ...code }, events) => writeState(tx, { codes: [code] }, events),
    by: { actor: service, now },
  });
  return recorded;
}
