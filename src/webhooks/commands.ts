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
import { timeouts } from '../lib/timeouts.ts';
import type { Queryable, Sql, Transaction } from '../log/connect.ts';
import { decideAndAppend } from '../log/decide.ts';
import { createSecret, destroySecret, openedSecret, rotateSecret } from './stored-secrets.ts';

export interface By {
  actor: Actor;
  now: Date;
}

/** What a webhook's account sees besides its settings. */
export interface SecretDetails {
  secret: string;
  /** When the previous secret stops signing; null if there is none. */
  previous_until: Date | null;
  /** When the current series of failed deliveries began; null if the last delivery succeeded. */
  failing_since: Date | null;
}

/** The webhook of `/v1/account/webhook` as its account sees it. */
export interface WebhookDetails extends Webhook, SecretDetails {}

type Loaded = Account & { webhook: Webhook | undefined };

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
  return { ...webhook, ...openedSecret(box, owner, { current, previous_until }, now) };
}

/** Sets the URL and enables the webhook. The first call creates the secret, later calls keep it. */
export const set = (sql: Sql, box: SecretBox, owner: Owner, url: string, by: By): Promise<void> =>
  decideOn(sql, owner, by, {
    decide: ({ webhook }) => setWebhook(webhook, owner.mode, url),
    writeSecret: (tx) => createSecret(tx, box, owner),
  });

/** Creates a new secret. The previous one also signs for 24 hours, so that receivers accept every delivery. */
export const rotate = (sql: Sql, box: SecretBox, owner: Owner, by: By): Promise<void> =>
  decideOn(sql, owner, by, {
    decide: (loaded) => rotateWebhook(existing(loaded)),
    writeSecret: (tx) => rotateSecret(tx, box, owner, by.now),
  });

/** Removes the webhook and destroys its secrets. */
export const remove = (sql: Sql, owner: Owner, by: By): Promise<void> =>
  decideOn(sql, owner, by, {
    decide: (loaded) => removeWebhook(existing(loaded)),
    writeSecret: (tx) => destroySecret(tx, owner),
  });

/** Why and when the service disables a webhook. */
export interface Disabling {
  reason: DisabledReason;
  /** When the attempt that is the cause began: a webhook that was enabled after it stays enabled. */
  attemptedAt: Date;
  now: Date;
}

/** Disables a webhook with the service as actor. Does nothing if the webhook is removed or already disabled. */
export const disable = (sql: Sql, owner: Owner, { reason, attemptedAt, now }: Disabling): Promise<void> =>
  decideOn(
    sql,
    owner,
    { actor: service, now },
    {
      decide: ({ webhook }) =>
        webhook === undefined || webhook.since > attemptedAt ? [] : disableWebhook(webhook, reason),
    },
  );

/**
 * Waits until the projection `webhooks` has applied every event of the account. A delivery that is resent earlier would
 * be dropped with those that were pending when the webhook was last disabled or removed.
 */
export async function waitForWebhooksProjection(sql: Sql, account: string): Promise<void> {
  const deadline = performance.now() + timeouts.webhooksProjectionMs;
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
