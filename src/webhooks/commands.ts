import { setTimeout as sleep } from 'node:timers/promises';
import type { Account, AccountEvent } from '../../events/account.ts';
import type { Owner } from '../../events/owner.ts';
import { hasWebhooks } from '../../events/plans.ts';
import { type Actor, service } from '../../events/recorded.ts';
import {
  type DisabledReason,
  disableWebhook,
  removeWebhook,
  rotateWebhook,
  setWebhook,
  type Webhook,
} from '../../events/webhook.ts';
import { writeState } from '../../projections/state.ts';
import { notFound, Refusal, retryLater } from '../lib/errors.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { Queryable, Sql, Transaction } from '../log/connect.ts';
import { decideAndAppend } from '../log/decide.ts';
import { newSigningSecret } from './secrets.ts';

interface By {
  actor: Actor;
  now: Date;
}

/** A webhook as its account sees it, with its signing secret. */
export interface WebhookDetails extends Webhook {
  secret: string;
  /** When the previous secret stops signing; null if there is none. */
  previous_until: Date | null;
  /** When the current series of failed deliveries began; null if the last delivery succeeded. */
  failing_since: Date | null;
}

type Loaded = Account & { webhook: Webhook | undefined };

const secretOverlapMs = 24 * 60 * 60 * 1000;

export async function findWebhook(
  sql: Queryable,
  box: SecretBox,
  owner: Owner,
  now: Date,
): Promise<WebhookDetails | undefined> {
  const [row] = await sql<(Omit<WebhookDetails, 'secret'> & { current: string })[]>`
    SELECT w.*, s.current, s.previous_until, e.failing_since
    FROM webhooks w JOIN webhook_secrets s USING (account, mode) LEFT JOIN webhook_endpoints e USING (account, mode)
    WHERE account = ${owner.account} AND mode = ${owner.mode}`;
  if (row === undefined) return undefined;
  const { current, previous_until, ...webhook } = row;
  const stillSigns = previous_until !== null && previous_until > now;
  return { ...webhook, secret: box.open(current, owner), previous_until: stillSigns ? previous_until : null };
}

/** Sets the URL and enables the webhook. The first call creates the secret, later calls keep it. */
export const set = (sql: Sql, box: SecretBox, owner: Owner, url: string, by: By): Promise<void> =>
  decideOn(sql, owner, by, {
    decide: ({ webhook }) => setWebhook(webhook, owner.mode, url),
    writeSecret: (tx) => tx`
      INSERT INTO webhook_secrets (account, mode, current)
      VALUES (${owner.account}, ${owner.mode}, ${box.seal(newSigningSecret(), owner)})
      ON CONFLICT DO NOTHING`,
  });

/** Creates a new secret. The previous one also signs for 24 hours, so that receivers accept every delivery. */
export const rotate = (sql: Sql, box: SecretBox, owner: Owner, by: By): Promise<void> =>
  decideOn(sql, owner, by, {
    decide: (loaded) => rotateWebhook(existing(loaded)),
    writeSecret: (tx) => tx`
      UPDATE webhook_secrets SET
        previous = current, previous_until = ${new Date(by.now.getTime() + secretOverlapMs)},
        current = ${box.seal(newSigningSecret(), owner)}
      WHERE account = ${owner.account} AND mode = ${owner.mode}`,
  });

/** Removes the webhook and destroys its secrets. */
export const remove = (sql: Sql, owner: Owner, by: By): Promise<void> =>
  decideOn(sql, owner, by, {
    decide: (loaded) => removeWebhook(existing(loaded)),
    writeSecret: (tx) => tx`DELETE FROM webhook_secrets WHERE account = ${owner.account} AND mode = ${owner.mode}`,
  });

/** Disables a webhook with the service as actor. Does nothing if the webhook is removed or already disabled. */
export const disable = (sql: Sql, owner: Owner, reason: DisabledReason, now: Date): Promise<void> =>
  decideOn(
    sql,
    owner,
    { actor: service, now },
    {
      decide: ({ webhook }) => (webhook === undefined ? [] : disableWebhook(webhook, reason)),
    },
  );

const projectionTimeoutMs = 5_000;

/**
 * Waits until the projection `webhooks` has applied every event of the account. A delivery that is resent earlier would
 * be dropped with those that were pending when the webhook was last disabled or removed.
 */
export async function waitForWebhooksProjection(sql: Sql, account: string): Promise<void> {
  const deadline = performance.now() + projectionTimeoutMs;
  for (;;) {
    const [row] = await sql<{ applied: boolean | null }[]>`
      SELECT (SELECT position FROM checkpoints WHERE projection = 'webhooks')
        >= (SELECT position FROM events WHERE stream = ${account} ORDER BY version DESC LIMIT 1) AS applied`;
    if (row?.applied) return;
    if (performance.now() > deadline)
      throw retryLater('The delivery log lags behind the last change of the account: try again in a few seconds.');
    await sleep(50);
  }
}

export const noWebhook = () =>
  new Refusal('not_found', 'No webhook is set in the mode of this key: set one with PUT /v1/account/webhook.');

function existing({ webhook }: Loaded): Webhook {
  if (webhook === undefined) throw noWebhook();
  return webhook;
}

interface Decision {
  decide(loaded: Loaded): AccountEvent[];
  /** Writes the secrets, which no event contains, in the same transaction. */
  writeSecret?(tx: Transaction): Promise<unknown>;
}

async function decideOn(sql: Sql, owner: Owner, by: By, { decide, writeSecret }: Decision): Promise<void> {
  await decideAndAppend<Loaded, AccountEvent>(sql, owner.account, {
    load: () => load(sql, owner),
    decide: (loaded) => {
      if (!hasWebhooks(loaded.plan) && by.actor !== service) throw planRequired();
      return decide(loaded);
    },
    project: async (tx, { webhook, ...account }, events) => {
      const before = { accounts: [account], webhooks: webhook === undefined ? [] : [webhook] };
      await Promise.all([writeState(tx, before, events), writeSecret?.(tx)]);
    },
    by,
  });
}

export const planRequired = () =>
  new Refusal('plan_required', 'Webhooks need the Pro, Business or Enterprise plan; this account is on the Free plan.');

type LoadedRow = Account & Pick<Webhook, 'status' | 'reason' | 'since'> & { url: string | null; set_at: Date };

/** Reads account and webhook in one statement, so that `version` and webhook come from the same snapshot. */
async function load(sql: Sql, { account: id, mode }: Owner): Promise<Loaded> {
  const [row] = await sql<LoadedRow[]>`
    SELECT a.*, w.url, w.status, w.reason, w.since, w.created_at AS set_at
    FROM accounts a LEFT JOIN webhooks w ON w.account = a.id AND w.mode = ${mode}
    WHERE a.id = ${id}`;
  if (row === undefined) throw notFound('account');
  const { url, status, reason, since, set_at, ...account } = row;
  if (url === null) return { ...account, webhook: undefined };
  return { ...account, webhook: { account: id, mode, url, status, reason, since, created_at: set_at } };
}
