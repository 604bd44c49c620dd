import type { Account, AccountEvent } from '../../events/account.ts';
import type { Owner } from '../../events/owner.ts';
import { hasWebhooks } from '../../events/plans.ts';
import { type Actor, service } from '../../events/recorded.ts';
import {
  changeWebhook,
  createWebhook,
  disableWebhook,
  removeWebhook,
  rotateWebhook,
  setWebhook,
} from '../../events/webhooks/change-webhook.ts';
import { accountWebhookKey, type EndpointKey } from '../../events/webhooks/endpoint.ts';
import {
  type DisabledReason,
  maxWebhooks,
  type Webhook,
  type WebhookEvent,
  type WebhookSettings,
} from '../../events/webhooks/webhook.ts';
import { writeState } from '../../projections/state.ts';
import { notFound, Refusal } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { Queryable, Sql, Transaction } from '../lib/sql.ts';
import { decideAndAppend } from '../log/decide.ts';
import { createSecret, destroySecret, openedSecret, rotateSecret } from './stored-secrets.ts';

export interface By {
  actor: Actor;
  now: Date;
}

/** A webhook as its account sees it. */
export interface WebhookDetails extends Webhook {
  secret: string;
  /** When the previous secret stops signing; null if there is none. */
  previous_until: Date | null;
  /** When the current series of failed deliveries began; null if the last delivery succeeded. */
  failing_since: Date | null;
}

type StoredDetails = Omit<WebhookDetails, 'secret'> & { current: string };

/** The owner's webhooks: first the webhook of `/v1/account/webhook`, then the others, oldest first. With `webhook`, only that one. */
export async function findWebhooks(
  sql: Queryable,
  box: SecretBox,
  { account, mode }: Owner,
  { webhook, now }: { webhook?: string; now: Date },
): Promise<WebhookDetails[]> {
  const rows = await sql<StoredDetails[]>`
    SELECT w.*, s.current, s.previous_until, e.failing_since
    FROM subscriptions w JOIN endpoint_secrets s USING (account, webhook) LEFT JOIN endpoints e USING (account, webhook)
    WHERE w.account = ${account} AND w.mode = ${mode} ${webhook === undefined ? sql`` : sql`AND webhook = ${webhook}`}
    ORDER BY body, w.created_at, webhook`;
  return rows.map(({ current, previous_until, ...found }) => ({
    ...found,
    ...openedSecret(box, found, { current, previous_until }, now),
  }));
}

/** Sets the URL of the webhook of `/v1/account/webhook`, and enables it. The first call creates the secret. */
export const set = (sql: Sql, box: SecretBox, owner: Owner, url: string, by: By): Promise<void> => {
  const key = accountWebhookKey(owner);
  return decideOn(sql, owner, by, {
    decide: (all) => setWebhook(find(all, key.webhook), owner.mode, url),
    writeSecret: (tx) => createSecret(tx, box, key),
  });
};

/** Creates a webhook and its secret; returns its id. */
export async function create(
  sql: Sql,
  box: SecretBox,
  owner: Owner,
  settings: WebhookSettings,
  by: By,
): Promise<string> {
  const webhook = newId('wh', by.now.getTime());
  await decideOn(sql, owner, by, {
    decide(all) {
      if (all.filter(({ body }) => body === 'event').length >= maxWebhooks)
        throw new Refusal(
          'quota_exceeded',
          `This mode already has ${maxWebhooks} webhooks, which is the limit: delete one, or widen the filter of one.`,
        );
      return createWebhook(webhook, owner.mode, settings);
    },
    writeSecret: (tx) => createSecret(tx, box, { account: owner.account, webhook }),
  });
  return webhook;
}

export const change = (
  sql: Sql,
  owner: Owner,
  webhook: string,
  settings: Partial<WebhookSettings>,
  by: By,
): Promise<void> => decideOn(sql, owner, by, { decide: (all) => changeWebhook(existing(all, webhook), settings) });

/** Creates a new secret. The previous one also signs for 24 hours, so that receivers accept every delivery. */
export const rotate = (sql: Sql, box: SecretBox, owner: Owner, webhook: string, by: By): Promise<void> =>
  decideOn(sql, owner, by, {
    decide: (all) => rotateWebhook(existing(all, webhook)),
    writeSecret: (tx) => rotateSecret(tx, box, { account: owner.account, webhook }, by.now),
  });

/** Removes the webhook and destroys its secrets. */
export const remove = (sql: Sql, owner: Owner, webhook: string, by: By): Promise<void> =>
  decideOn(sql, owner, by, {
    decide: (all) => removeWebhook(existing(all, webhook)),
    writeSecret: (tx) => destroySecret(tx, { account: owner.account, webhook }),
  });

/** Why and when the service disables a webhook. */
interface Disabling {
  reason: DisabledReason;
  /** When the attempt that is the cause began: a webhook that was enabled after it stays enabled. */
  attemptedAt: Date;
  now: Date;
}

/** Disables a webhook with the service as actor. Does nothing if it is removed, paused or already disabled. */
export async function disable(sql: Sql, key: EndpointKey, { reason, attemptedAt, now }: Disabling): Promise<void> {
  const { account, webhook } = key;
  const [owner] = await sql<Owner[]>`
    SELECT account, mode FROM subscriptions WHERE account = ${account} AND webhook = ${webhook}`;
  if (owner === undefined) return;
  const by = { actor: service, now };
  await decideOn(sql, owner, by, {
    decide(all) {
      const found = find(all, webhook);
      return found === undefined || found.since > attemptedAt ? [] : disableWebhook(found, reason);
    },
  });
}

const find = (all: Webhook[], webhook: string) => all.find((one) => one.webhook === webhook);

function existing(all: Webhook[], webhook: string): Webhook {
  const found = find(all, webhook);
  if (found === undefined) throw notFound('webhook');
  return found;
}

interface Decision {
  /** Decides on all webhooks of the owner. */
  decide(webhooks: Webhook[]): WebhookEvent[];
  /** Writes the secrets, which no event contains, in the same transaction. */
  writeSecret?(tx: Transaction): Promise<unknown>;
}

interface Loaded {
  version: number;
  account: Account;
  webhooks: Webhook[];
}

async function decideOn(sql: Sql, owner: Owner, by: By, { decide, writeSecret }: Decision): Promise<void> {
  await decideAndAppend<Loaded, AccountEvent>(sql, owner.account, {
    load: () => load(sql, owner),
    decide({ account, webhooks }) {
      if (!hasWebhooks(account.plan) && by.actor !== service) throw planRequired();
      return decide(webhooks);
    },
    project: (tx, { account, webhooks }, events) =>
      Promise.all([writeState(tx, { accounts: [account], webhooks }, events), writeSecret?.(tx)]),
    by,
  });
}

export const planRequired = () =>
  new Refusal('plan_required', 'Webhooks need the Pro, Business or Enterprise plan; this account is on the Free plan.');

/** Reads account and webhooks in one snapshot, so that the version belongs to what is decided on. */
const load = (sql: Sql, { account: id, mode }: Owner): Promise<Loaded> =>
  sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (tx) => {
    const [[account], webhooks] = await Promise.all([
      tx<Account[]>`SELECT * FROM accounts WHERE id = ${id}`,
      tx<Webhook[]>`SELECT * FROM subscriptions WHERE account = ${id} AND mode = ${mode} ORDER BY webhook`,
    ]);
    if (account === undefined) throw notFound('account');
    return { version: account.version, account, webhooks };
  });
