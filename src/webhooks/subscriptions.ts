import type { Account, AccountEvent } from '../../events/account.ts';
import type { EndpointKey } from '../../events/endpoint.ts';
import type { Owner } from '../../events/owner.ts';
import { hasWebhooks } from '../../events/plans.ts';
import { service } from '../../events/recorded.ts';
import {
  changeSubscription,
  createSubscription,
  deleteSubscription,
  maxSubscriptions,
  rotateSubscription,
  type Subscription,
  type SubscriptionEvent,
  type SubscriptionSettings,
  stopSubscription,
} from '../../events/subscription.ts';
import { writeState } from '../../projections/state.ts';
import { notFound, Refusal } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { Queryable, Sql, Transaction } from '../log/connect.ts';
import { decideAndAppend } from '../log/decide.ts';
import { type By, type Disabling, planRequired, type SecretDetails } from './commands.ts';
import { createSecret, destroySecret, openedSecret, rotateSecret } from './stored-secrets.ts';

/** A webhook of `/v1/webhooks` as its account sees it, with its signing secret. */
export interface SubscriptionDetails extends Subscription, SecretDetails {}

/** The owner's webhooks of `/v1/webhooks`, oldest first; with `id`, only that one. */
export async function findSubscriptions(
  sql: Queryable,
  box: SecretBox,
  { account, mode }: Owner,
  { id, now }: { id?: string; now: Date },
): Promise<SubscriptionDetails[]> {
  const rows = await sql<(Subscription & StoredDetails)[]>`
    SELECT w.*, s.current, s.previous_until, e.failing_since
    FROM webhook_subscriptions w
    JOIN webhook_secrets s ON s.account = w.account AND s.mode = w.id
    LEFT JOIN webhook_endpoints e ON e.account = w.account AND e.mode = w.id
    WHERE w.account = ${account} AND w.mode = ${mode} ${id === undefined ? sql`` : sql`AND w.id = ${id}`}
    ORDER BY w.created_at, w.id`;
  return rows.map(({ current, previous_until, ...subscription }) => ({
    ...subscription,
    ...openedSecret(box, { account, mode: subscription.id }, { current, previous_until }, now),
  }));
}

interface StoredDetails {
  current: string;
  previous_until: Date | null;
  failing_since: Date | null;
}

const noSuchWebhook = () => notFound('webhook');

/** Creates a webhook and its secret; returns its id. */
export async function create(
  sql: Sql,
  box: SecretBox,
  owner: Owner,
  settings: SubscriptionSettings,
  by: By,
): Promise<string> {
  const id = newId('wh', by.now.getTime());
  await decideOn(sql, owner, by, {
    decide(subscriptions) {
      if (subscriptions.length >= maxSubscriptions)
        throw new Refusal(
          'quota_exceeded',
          `This mode already has ${maxSubscriptions} webhooks, which is the limit: delete one, or widen the filter of one.`,
        );
      return createSubscription(id, owner.mode, settings);
    },
    writeSecret: (tx) => createSecret(tx, box, { account: owner.account, mode: id }),
  });
  return id;
}

export const change = (
  sql: Sql,
  owner: Owner,
  id: string,
  settings: Partial<SubscriptionSettings>,
  by: By,
): Promise<void> => decideOn(sql, owner, by, { decide: (all) => changeSubscription(existing(all, id), settings) });

/** Creates a new secret. The previous one also signs for 24 hours, so that receivers accept every delivery. */
export const rotate = (sql: Sql, box: SecretBox, owner: Owner, id: string, by: By): Promise<void> =>
  decideOn(sql, owner, by, {
    decide: (all) => rotateSubscription(existing(all, id)),
    writeSecret: (tx) => rotateSecret(tx, box, { account: owner.account, mode: id }, by.now),
  });

/** Removes the webhook and destroys its secrets. */
export const remove = (sql: Sql, owner: Owner, id: string, by: By): Promise<void> =>
  decideOn(sql, owner, by, {
    decide: (all) => deleteSubscription(existing(all, id)),
    writeSecret: (tx) => destroySecret(tx, { account: owner.account, mode: id }),
  });

/** Disables a webhook with the service as actor. Does nothing if it is deleted, paused or already disabled. */
export async function stop(sql: Sql, key: EndpointKey, { reason, attemptedAt, now }: Disabling): Promise<void> {
  const [found] = await sql<Owner[]>`SELECT account, mode FROM webhook_subscriptions WHERE id = ${key.mode}`;
  if (found === undefined) return;
  await decideOn(
    sql,
    found,
    { actor: service, now },
    {
      decide: (all) =>
        all
          .filter(({ id, since }) => id === key.mode && since <= attemptedAt)
          .flatMap((one) => stopSubscription(one, reason)),
    },
  );
}

function existing(subscriptions: Subscription[], id: string): Subscription {
  const found = subscriptions.find((subscription) => subscription.id === id);
  if (found === undefined) throw noSuchWebhook();
  return found;
}

interface Decision {
  decide(subscriptions: Subscription[]): SubscriptionEvent[];
  /** Writes the secrets, which no event contains, in the same transaction. */
  writeSecret?(tx: Transaction): Promise<unknown>;
}

interface Loaded {
  version: number;
  account: Account;
  subscriptions: Subscription[];
}

async function decideOn(sql: Sql, owner: Owner, by: By, { decide, writeSecret }: Decision): Promise<void> {
  await decideAndAppend<Loaded, AccountEvent>(sql, owner.account, {
    load: () => load(sql, owner),
    decide({ account, subscriptions }) {
      if (!hasWebhooks(account.plan) && by.actor !== service) throw planRequired();
      return decide(subscriptions);
    },
    project: (tx, { account, subscriptions }, events) =>
      Promise.all([writeState(tx, { accounts: [account], subscriptions }, events), writeSecret?.(tx)]),
    by,
  });
}

/** Reads account and webhooks in one snapshot, so that the version belongs to what is decided on. */
const load = (sql: Sql, { account: id, mode }: Owner): Promise<Loaded> =>
  sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (tx) => {
    const [[account], subscriptions] = await Promise.all([
      tx<Account[]>`SELECT * FROM accounts WHERE id = ${id}`,
      tx<Subscription[]>`SELECT * FROM webhook_subscriptions WHERE account = ${id} AND mode = ${mode} ORDER BY id`,
    ]);
    if (account === undefined) throw notFound('account');
    return { version: account.version, account, subscriptions };
  });
