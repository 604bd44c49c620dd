import { type EndpointKey, isSubscription } from '../../events/endpoint.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { Sql } from '../lib/sql.ts';

/** The URL and the signing secrets of a webhook. */
export interface Target {
  url: string;
  secrets: string[];
}

interface Row {
  url: string;
  current: string;
  previous: string | null;
  previous_until: Date | null;
}

/** Reads the target of a webhook; with `onlyWhenOn`, only if it is enabled and the account's plan includes webhooks. */
export async function findTarget(
  sql: Sql,
  box: SecretBox,
  key: EndpointKey,
  now: Date,
  options: { onlyWhenOn: boolean },
): Promise<Target | undefined> {
  const on = options.onlyWhenOn ? sql`AND w.status = 'enabled' AND a.plan <> 'free'` : sql``;
  const [table, column] = isSubscription(key.mode) ? [sql`webhook_subscriptions`, sql`id`] : [sql`webhooks`, sql`mode`];
  const [row] = await sql<Row[]>`
    SELECT w.url, s.current, s.previous, s.previous_until
    FROM ${table} w JOIN webhook_secrets s ON s.account = w.account AND s.mode = w.${column}
    JOIN accounts a ON a.id = w.account
    WHERE w.account = ${key.account} AND w.${column} = ${key.mode} ${on}`;
  if (row === undefined) return undefined;
  const { url, current, previous, previous_until } = row;
  const isPreviousValid = previous !== null && previous_until !== null && previous_until > now;
  const sealed = [current, ...(isPreviousValid ? [previous] : [])];
  return { url, secrets: sealed.map((secret) => box.open(secret, key)) };
}

/** The maximum delay until a changed URL or secret is used. */
const maxAgeMs = 500;

/** The target of one endpoint, read from the database at most every 500 ms; undefined while the webhook is off. */
export class TargetCache {
  readonly #find: () => Promise<Target | undefined>;
  #cached: { target: Promise<Target | undefined>; until: number } | undefined;

  constructor(find: () => Promise<Target | undefined>) {
    this.#find = find;
  }

  get(): Promise<Target | undefined> {
    const now = performance.now();
    if (this.#cached === undefined || this.#cached.until < now) {
      const target = this.#find();
      this.#cached = { target, until: now + maxAgeMs };
      target.catch(() => {
        this.#cached = undefined;
      });
    }
    return this.#cached.target;
  }
}
