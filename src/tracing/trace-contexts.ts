import { batchCalls } from '../lib/batch-calls.ts';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import type { Sql } from '../lib/sql.ts';
import { timeouts } from '../lib/timeouts.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import { Outage } from './outage.ts';

/** A log entry that a traced request has caused. */
export interface TracedEntry {
  id: string;
  code: string;
}

interface Row {
  entry: string;
  code: string;
  traceparent: string;
}

const maxBatchSize = 1_000;
/** While Postgres does not answer, later contexts are dropped. */
const maxWaiting = 10_000;

/** Entries and their webhook deliveries share the id after the prefix. */
const keyOf = (id: string) => id.slice(id.indexOf('_') + 1);

/**
 * The table `trace_contexts`: which span an entry of the log comes from. Nothing rejects: without its context, a webhook
 * begins a trace of its own.
 *
 * `sql` should have one connection, so that a lookup sees all contexts that this process has written before it.
 */
export class TraceContexts {
  readonly #sql: Sql;
  readonly #outage: Outage;
  readonly #insert: (row: Row) => Promise<undefined>;
  readonly #findOne: (id: string) => Promise<string | undefined>;
  #waiting = 0;

  constructor(sql: Sql, log: Logger) {
    this.#sql = sql;
    this.#outage = new Outage(log, {
      begins: 'trace contexts cannot be stored or read in Postgres: webhooks begin traces of their own',
      ends: 'trace contexts are stored and read again',
    });
    this.#insert = batchCalls((rows) => this.#insertAll(rows), { maxBatchSize });
    this.#findOne = batchCalls((ids) => this.#findEach(ids), { maxBatchSize });
  }

  /** Stores that `entries` come from a span. Resolves once they are stored, or after `timeouts.traceContextMs`. */
  async keep(entries: TracedEntry[], traceparent: string): Promise<void> {
    const room = entries.slice(0, Math.max(0, maxWaiting - this.#waiting));
    this.#waiting += room.length;
    const stored = Promise.all(room.map(({ id, code }) => this.#insert({ entry: keyOf(id), code, traceparent })))
      .then(
        () => this.#outage.succeeded(),
        (error) => this.#outage.failed({ error: messageOf(error) }),
      )
      .finally(() => {
        this.#waiting -= room.length;
      });
    await withTimeout(stored, timeouts.traceContextMs, () => {});
  }

  /** The `traceparent` of the span that a log entry, or the entry of a webhook delivery, comes from. */
  find(id: string): Promise<string | undefined> {
    return this.#findOne(id);
  }

  /** The `traceparent` of each of `ids` that comes from a recorded span. */
  async findAll(ids: string[]): Promise<string[]> {
    return (await this.#read(ids.map(keyOf))).map(({ traceparent }) => traceparent);
  }

  async #findEach(ids: string[]): Promise<(string | undefined)[]> {
    const keys = ids.map(keyOf);
    const found = new Map((await this.#read(keys)).map(({ entry, traceparent }) => [entry, traceparent]));
    return keys.map((key) => found.get(key));
  }

  async #read(keys: string[]): Promise<Pick<Row, 'entry' | 'traceparent'>[]> {
    const query = this.#sql<Pick<Row, 'entry' | 'traceparent'>[]>`
      SELECT entry, traceparent FROM trace_contexts WHERE entry = ANY(${keys}) ORDER BY entry`;
    try {
      return await withTimeout(query, timeouts.traceContextMs, () => {
        throw new Error(`Postgres did not answer within ${timeouts.traceContextMs} ms`);
      });
    } catch (error) {
      this.#outage.failed({ error: messageOf(error) });
      return [];
    }
  }

  /** The account of the code lets an erasure find the row. */
  async #insertAll(rows: Row[]): Promise<undefined[]> {
    await this.#sql`
      INSERT INTO trace_contexts (entry, account, traceparent)
      SELECT r.entry, c.account, r.traceparent
      FROM jsonb_to_recordset(${this.#sql.json(rows as never)}) AS r (entry text, code text, traceparent text)
      JOIN codes c ON c.id = r.code
      ON CONFLICT DO NOTHING`;
    return rows.map(() => undefined);
  }
}
