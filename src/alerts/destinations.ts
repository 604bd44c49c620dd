import { createHash } from 'node:crypto';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { Semaphore } from '../lib/semaphore.ts';
import type { Queryable, Sql } from '../lib/sql.ts';
import type { Probed } from './probe.ts';
import { storedProblem } from './problems.ts';

/** URLs of one account that are checked; each at most hourly, however many alerts and codes have it. */
export const maxDestinations = 2_000;
const minuteMs = 60_000;
/** At least an hour, and a few minutes more at random, so that checks of one website spread. */
const everyMs = 60 * minuteMs;
const spreadMs = 5 * minuteMs;
/** An alert renews its URLs every few minutes. Longer than an outage of this service that should not lose a failure. */
const wantedMs = 6 * everyMs;
/** A destination is down after this many failures in a row, so for an hour at least. */
const failuresUntilDown = 2;
const maxConcurrent = 16;
/** Destinations of one turn of `checkDue`, and of one website: thousands of requests at once would look like an attack there. */
const maxDue = 64;
export const maxDueOfHost = 16;
/** If this many websites and more do not answer, and no other does, it is the network of this service. */
const minHostsOfOutage = 3;
const outagePauseMs = 5 * minuteMs;
/** It is not the network if any website has answered this recently. Else three dead ones that are due together would never be down. */
const answeredMs = 10 * minuteMs;

const hashOf = (url: string) => createHash('sha256').update(url).digest('hex');

/** The reasons for which URLs of the account are down; these are checked from now on. */
export async function problemsOf(
  sql: Queryable,
  account: string,
  urls: readonly string[],
  now: Date,
): Promise<Map<string, { problem: string; since: Date }>> {
  if (urls.length === 0) return new Map();
  const wanted = urls.slice(0, maxDestinations).map((url) => ({ url, hash: hashOf(url) }));
  const until = new Date(now.getTime() + wantedMs);
  // Extended hourly, not by every check of an alert.
  const soon = new Date(until.getTime() - everyMs);
  await sql`
    UPDATE destination_checks SET wanted_until = ${until}
    WHERE account = ${account} AND wanted_until < ${soon} AND hash = ANY(SELECT decode(h, 'hex') FROM unnest(${wanted.map(({ hash }) => hash)}::text[]) AS h)`;
  await sql`
    INSERT INTO destination_checks (account, hash, url, next_at, wanted_until)
    SELECT ${account}, decode(hash, 'hex'), url, ${now}, ${until}
    FROM jsonb_to_recordset(${sql.json(wanted)}) AS w (hash text, url text)
    WHERE NOT EXISTS (SELECT FROM destination_checks d WHERE d.account = ${account} AND d.hash = decode(w.hash, 'hex'))
    LIMIT greatest(0, ${maxDestinations} - (SELECT count(*) FROM destination_checks WHERE account = ${account}))
    ON CONFLICT DO NOTHING`;
  const rows = await sql<{ url: string; problem: string; since: Date }[]>`
    SELECT url, problem, failing_since AS since FROM destination_checks
    WHERE account = ${account} AND failures >= ${failuresUntilDown} AND problem IS NOT NULL`;
  return new Map(rows.map(({ url, problem, since }) => [url, { problem, since }]));
}

interface Due {
  account: string;
  hash: string;
  url: string;
  /** Before this check. */
  failures: number;
}

interface CheckerOptions {
  sql: Sql;
  clock: Clock;
  log: Logger;
  probe(url: string): Promise<Probed>;
}

/** Checks the destinations that alerts watch. No transaction is open while it waits for a website. */
export class DestinationChecker {
  readonly #options: CheckerOptions;
  readonly #slots = new Semaphore(maxConcurrent);
  /** When a website has last answered. */
  #answeredAt = Number.NEGATIVE_INFINITY;

  constructor(options: CheckerOptions) {
    this.#options = options;
  }

  /** Checks destinations that are due, and resolves to whether there may be more of them. */
  async checkDue(): Promise<boolean> {
    const { sql, clock, log, probe } = this.#options;
    const now = clock();
    await sql`DELETE FROM destination_checks WHERE wanted_until < ${now}`;
    const due = await dueDestinations(sql, now, maxDue);
    if (due.length === 0) return false;
    const probed = await Promise.all(
      due.map((entry) => this.#slots.run(async () => ({ entry, result: await probe(entry.url) }))),
    );
    if (probed.some(({ result }) => isAnswered(result))) this.#answeredAt = now.getTime();
    const down = probed.filter(({ result }) => result.state === 'down');
    const isOutage =
      now.getTime() - this.#answeredAt > answeredMs &&
      new Set(down.map(({ entry: { url } }) => new URL(url).host)).size >= minHostsOfOutage;
    if (isOutage) {
      log.warn({ destinations: due.length }, 'no destination of a code answers: check the network of this service');
      await postpone(sql, due, new Date(now.getTime() + outagePauseMs));
    } else {
      await store(sql, probed, now);
      const news = probed.filter(isNews);
      if (news.length > 0)
        await checkAlertsOf(
          sql,
          news.map(({ entry }) => entry.account),
          now,
        );
    }
    return due.length === maxDue;
  }
}

const isAnswered = (result: Probed): boolean => result.state === 'up' || (result.state === 'down' && result.isAnswered);

/** First one of each account, then a second one of each, so that an account with many does not delay the others. */
const dueDestinations = (sql: Queryable, now: Date, limit: number): Promise<Due[]> => sql<Due[]>`
  SELECT account, encode(hash, 'hex') AS hash, url, failures FROM (
    SELECT d.*, row_number() OVER (PARTITION BY d.account ORDER BY d.next_at, d.hash) AS turn,
      row_number() OVER (PARTITION BY lower(substring(d.url FROM '//([^/?#]*)')) ORDER BY d.next_at, d.hash) AS of_host
    FROM destination_checks d JOIN accounts a ON a.id = d.account
    WHERE d.next_at <= ${now} AND a.suspended_at IS NULL
  ) AS due WHERE of_host <= ${maxDueOfHost} ORDER BY turn, next_at, account LIMIT ${limit}`;

const postpone = (sql: Queryable, due: Due[], next: Date): Promise<unknown> => sql`
  UPDATE destination_checks d SET next_at = ${next}
  FROM jsonb_to_recordset(${sql.json(due.map(({ account, hash }) => ({ account, hash })))}) AS r (account text, hash text)
  WHERE d.account = r.account AND d.hash = decode(r.hash, 'hex')`;

/** Whether a destination is down since this check, or no longer. */
const isNews = ({ entry: { failures }, result }: { entry: Due; result: Probed }): boolean =>
  result.state === 'down' ? failures + 1 === failuresUntilDown : failures >= failuresUntilDown;

/** Makes the alerts about destinations of these accounts due. */
const checkAlertsOf = (sql: Queryable, accounts: string[], now: Date): Promise<unknown> => sql`
  UPDATE alert_checks c SET next_at = ${now}
  FROM alerts a WHERE a.id = c.alert AND a.kind = 'destination_down' AND a.account = ANY(${accounts})`;

async function store(sql: Queryable, probed: { entry: Due; result: Probed }[], now: Date): Promise<void> {
  const rows = probed.map(({ entry: { account, hash }, result }) => ({
    account,
    hash,
    state: result.state,
    problem: result.state === 'down' ? storedProblem(result.problem) : null,
    next: new Date(now.getTime() + everyMs + Math.random() * spreadMs).toISOString(),
  }));
  await sql`
    UPDATE destination_checks d SET
      next_at = r.next,
      failures = CASE r.state WHEN 'down' THEN d.failures + 1 ELSE 0 END,
      failing_since = CASE r.state WHEN 'down' THEN coalesce(d.failing_since, ${now}) END,
      problem = r.problem
    FROM jsonb_to_recordset(${sql.json(rows)})
      AS r (account text, hash text, state text, problem text, next timestamptz)
    WHERE d.account = r.account AND d.hash = decode(r.hash, 'hex')`;
}
