import type { EndpointKey } from '../../events/webhooks/endpoint.ts';
import type { BodyFormat } from '../../events/webhooks/webhook.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { Sql } from '../lib/sql.ts';

/** Where and how a webhook is sent: its URL, its body and its signing secrets. */
export interface Target {
  url: string;
  body: BodyFormat;
  secrets: string[];
}

interface Row {
  url: string;
  body: BodyFormat;
  current: string;
  previous: string | null;
  previous_until: Date | null;
}

/**
 * Reads the target of a webhook; with `onlyWhenOn`, only if it is enabled, the account's plan includes webhooks, and the account is
 * not suspended.
 */
export async function findTarget(
  sql: Sql,
  box: SecretBox,
  key: EndpointKey,
  now: Date,
  options: { onlyWhenOn: boolean },
): Promise<Target | undefined> {
  const on = options.onlyWhenOn ? sql`AND w.status = 'enabled' AND a.plan <> 'free' AND a.suspended_at IS NULL` : sql``;
  const [row] = await sql<Row[]>`
    SELECT w.url, w.body, s.current, s.previous, s.previous_until
    FROM subscriptions w JOIN endpoint_secrets s USING (account, webhook) JOIN accounts a ON a.id = account
    WHERE account = ${key.account} AND webhook = ${key.webhook} ${on}`;
  if (row === undefined) return undefined;
  const { url, body, current, previous, previous_until } = row;
  const isPreviousValid = previous !== null && previous_until !== null && previous_until > now;
  const sealed = [current, ...(isPreviousValid ? [previous] : [])];
  return { url, body, secrets: sealed.map((secret) => box.open(secret, key)) };
}

/** The maximum delay until a changed URL or secret is used. */
const maxAgeMs = 500;

/** The target of one endpoint, read from the database at most every 500 ms; undefined while nothing may be sent to it. */
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
