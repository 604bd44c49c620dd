import { setTimeout as sleep } from 'node:timers/promises';
import { type EndpointKey, endpointKey } from '../../events/webhooks/endpoint.ts';
import { batchCalls } from '../lib/batch-calls.ts';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import type { Sql } from '../lib/sql.ts';
import type { StoredAttempt } from './deliveries.ts';

/** The outcome of one attempt, and the state of its delivery after it. */
export interface Outcome extends EndpointKey {
  id: string;
  status: 'pending' | 'delivered' | 'failed';
  /** When the next attempt is due. */
  due_at: string;
  attempt: StoredAttempt;
  at: string;
}

interface EndpointState extends EndpointKey {
  failing_since: Date | null;
}

export interface OutcomeStore {
  /** Resolves when the outcome is stored, with the endpoint's state; undefined if another worker has its lease. */
  record(result: Outcome): Promise<EndpointState | undefined>;
  stop(): Promise<void>;
}

const maxBatchSize = 1_000;
/** Outcomes of an account that share a statement with those of other accounts. */
const maxShared = 20;
const retryMs = 250;
/** Sending does not wait for outcomes to be stored, so the outcomes of 50 ms share a commit. */
const batchDelayMs = 50;
/** Bounds the row of a delivery that is resent many times by hand. */
const maxStoredAttempts = 30;

/**
 * Accounts with many outcomes get a statement each: one waits until the projection has stored more deliveries of its account, and
 * others would wait with it, and so would the projection that has deliveries for them.
 */
function groupsOf(results: Outcome[]): Outcome[][] {
  const byAccount = [...Map.groupBy(results, ({ account }) => account).values()];
  const large = byAccount.filter(({ length }) => length > maxShared);
  const others = byAccount.filter(({ length }) => length <= maxShared).flat();
  return others.length === 0 ? large : [...large, others];
}

/** Stores results in batches, and retries until Postgres takes them. */
export function startOutcomeStore(sql: Sql, holder: string, log: Logger): OutcomeStore {
  let stopping = false;
  let last: Promise<unknown> = Promise.resolve();

  const record = batchCalls(storeAll, { maxBatchSize, lingerMs: () => (stopping ? 0 : batchDelayMs) });

  async function storeAll(results: Outcome[]): Promise<(EndpointState | undefined)[]> {
    const stored = await Promise.all(groupsOf(results).map(storeWithRetries));
    const states = new Map(stored.flat().map((endpoint) => [endpointKey(endpoint), endpoint]));
    return results.map((result) => states.get(endpointKey(result)));
  }

  async function storeWithRetries(results: Outcome[]): Promise<EndpointState[]> {
    for (;;) {
      try {
        return await store(results);
      } catch (error) {
        log.warn({ error: messageOf(error) }, 'outcomes of webhook deliveries could not be stored: retrying in 250 ms');
        if (stopping) return [];
        await sleep(retryMs);
      }
    }
  }

  const store = (results: Outcome[]) =>
    sql<EndpointState[]>`
      WITH given AS MATERIALIZED (
        SELECT * FROM jsonb_to_recordset(${sql.json(results as never)}) AS r
          (account text, webhook text, id text, status text, due_at timestamptz, attempt jsonb, at timestamptz)
      ),
      leased AS MATERIALIZED (
        SELECT account, webhook FROM endpoints
        WHERE lease = ${holder} AND (account, webhook) IN (SELECT account, webhook FROM given)
        ORDER BY account, webhook FOR UPDATE
      ),
      stored AS (
        UPDATE deliveries d SET
          status = g.status, due_at = g.due_at, tries = d.tries + 1, error = g.attempt->>'error',
          attempts = CASE WHEN jsonb_array_length(d.attempts) < ${maxStoredAttempts} THEN d.attempts ELSE d.attempts - 0 END
            || g.attempt,
          finished_at = CASE WHEN g.status = 'pending' THEN NULL ELSE g.at END,
          -- After its first attempt, the delivery of a replay is retried like any other.
          low_priority = false
        FROM given g JOIN leased USING (account, webhook)
        WHERE d.account = g.account AND d.webhook = g.webhook AND d.id = g.id AND (d.status = 'pending' OR g.status = 'delivered')
      )
      UPDATE endpoints e SET
        failing_since = CASE WHEN r.succeeded THEN NULL ELSE coalesce(e.failing_since, r.failed_at) END
      FROM (
        SELECT account, webhook, bool_or(status = 'delivered') AS succeeded, min(at) AS failed_at
        FROM given JOIN leased USING (account, webhook) GROUP BY account, webhook
      ) AS r
      WHERE e.account = r.account AND e.webhook = r.webhook
      RETURNING e.account, e.webhook, e.failing_since`;

  return {
    record(result) {
      const recorded = record(result);
      last = recorded;
      return recorded;
    },
    async stop() {
      stopping = true;
      // Batches are stored in order, so the last call is the last to end.
      await last;
    },
  };
}
