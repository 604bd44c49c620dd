import { setTimeout as sleep } from 'node:timers/promises';
import { type Owner, ownerKey } from '../../events/owner.ts';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import type { Sql } from '../lib/sql.ts';
import type { KeptAttempt } from './deliveries.ts';

/** What became of a delivery by one attempt. */
export interface Outcome extends Owner {
  id: string;
  status: 'pending' | 'delivered' | 'failed';
  /** When to try again. */
  due_at: string;
  attempt: KeptAttempt;
  at: string;
}

interface Recorded extends Owner {
  failing_since: Date | null;
}

export interface OutcomeStore {
  /** Resolves when it is stored: with the endpoint as it stands then, or nothing when another worker has it now. */
  record(result: Outcome): Promise<Recorded | undefined>;
  stop(): Promise<void>;
}

const most = 1_000;
const retryMs = 250;
/** Nobody waits for a result to be stored, so a few are gathered first. */
const gatherMs = 50;
/** Attempts kept of a delivery that is sent again and again by hand. */
const attemptsKept = 30;

/** Stores results together, so that few commits carry many. */
export function startOutcomeStore(sql: Sql, holder: string, log: Logger): OutcomeStore {
  let waiting: { result: Outcome; done(endpoint: Recorded | undefined): void }[] = [];
  let writing: Promise<void> | undefined;
  let stopping = false;

  async function write(): Promise<void> {
    while (waiting.length > 0) {
      if (waiting.length < most && !stopping) await sleep(gatherMs);
      const batch = waiting.slice(0, most);
      try {
        const stored = await store(batch.map(({ result }) => result));
        waiting = waiting.slice(batch.length);
        for (const { result, done } of batch) done(stored.get(ownerKey(result)));
      } catch (error) {
        log.warn({ error: messageOf(error) }, 'results of webhooks cannot be stored, trying again');
        if (stopping) break;
        await sleep(retryMs);
      }
    }
    for (const { done } of waiting.splice(0)) done(undefined);
    writing = undefined;
  }

  async function store(results: Outcome[]): Promise<Map<string, Recorded>> {
    const stored = await sql<Recorded[]>`
      WITH given AS MATERIALIZED (
        SELECT * FROM jsonb_to_recordset(${sql.json(results as never)}) AS r
          (account text, mode text, id text, status text, due_at timestamptz, attempt jsonb, at timestamptz)
      ),
      held AS MATERIALIZED (
        SELECT account, mode FROM webhook_endpoints
        WHERE lease = ${holder} AND (account, mode) IN (SELECT account, mode FROM given)
        ORDER BY account, mode FOR UPDATE
      ),
      stored AS (
        UPDATE webhook_deliveries d SET
          status = g.status, due_at = g.due_at, tries = d.tries + 1, error = g.attempt->>'error',
          attempts = CASE WHEN jsonb_array_length(d.attempts) < ${attemptsKept} THEN d.attempts ELSE d.attempts - 0 END
            || g.attempt,
          finished_at = CASE WHEN g.status = 'pending' THEN NULL ELSE g.at END
        FROM given g JOIN held USING (account, mode)
        WHERE d.account = g.account AND d.mode = g.mode AND d.id = g.id AND (d.status = 'pending' OR g.status = 'delivered')
      )
      UPDATE webhook_endpoints e SET
        failing_since = CASE WHEN r.succeeded THEN NULL ELSE coalesce(e.failing_since, r.failed_at) END
      FROM (
        SELECT account, mode, bool_or(status = 'delivered') AS succeeded, min(at) AS failed_at
        FROM given JOIN held USING (account, mode) GROUP BY account, mode
      ) AS r
      WHERE e.account = r.account AND e.mode = r.mode
      RETURNING e.account, e.mode, e.failing_since`;
    return new Map(stored.map((endpoint) => [ownerKey(endpoint), endpoint]));
  }

  return {
    record: (result) =>
      new Promise((done) => {
        waiting.push({ result, done });
        writing ??= write();
      }),
    async stop() {
      stopping = true;
      await writing;
    },
  };
}
