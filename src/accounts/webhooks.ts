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
import { notFound, Refusal } from '../lib/errors.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { Queryable, Sql, Transaction } from '../log/connect.ts';
import { decideAndAppend } from '../log/decide.ts';
import { newSigningSecret } from '../webhooks/secrets.ts';

interface By {
  actor: Actor;
  now: Date;
}

/** A webhook with everything its account may know about it. */
export interface OwnWebhook extends Webhook {
  secret: string;
  /** Until when the secret before this one signs too. */
  previous_until: Date | null;
  /** Since when nothing but failures came back. */
  failing_since: Date | null;
}

type Loaded = Account & { webhook: Webhook | undefined };

const previousSignsForMs = 24 * 60 * 60 * 1000;

export async function findWebhook(
  sql: Queryable,
  box: SecretBox,
  owner: Owner,
  now: Date,
): Promise<OwnWebhook | undefined> {
  const [row] = await sql<(Omit<OwnWebhook, 'secret'> & { current: string })[]>`
    SELECT w.*, s.current, s.previous_until, e.failing_since
    FROM webhooks w JOIN webhook_secrets s USING (account, mode) LEFT JOIN webhook_endpoints e USING (account, mode)
    WHERE account = ${owner.account} AND mode = ${owner.mode}`;
  if (row === undefined) return undefined;
  const { current, previous_until, ...webhook } = row;
  const stillSigns = previous_until !== null && previous_until > now;
  return { ...webhook, secret: box.open(current, owner), previous_until: stillSigns ? previous_until : null };
}

/** Sets the URL, and switches the webhook on. Its secret stays what it is; the first time it gets one. */
export const set = (sql: Sql, box: SecretBox, owner: Owner, url: string, by: By): Promise<void> =>
  decideOn(sql, owner, by, {
    decide: ({ webhook }) => setWebhook(webhook, owner.mode, url),
    keepSecret: (tx) => tx`
      INSERT INTO webhook_secrets (account, mode, current)
      VALUES (${owner.account}, ${owner.mode}, ${box.seal(newSigningSecret(), owner)})
      ON CONFLICT DO NOTHING`,
  });

/** A new secret; the one before it signs too for a day, so that receivers can be changed without missing anything. */
export const rotate = (sql: Sql, box: SecretBox, owner: Owner, by: By): Promise<void> =>
  decideOn(sql, owner, by, {
    decide: (loaded) => rotateWebhook(existing(loaded)),
    keepSecret: (tx) => tx`
      UPDATE webhook_secrets SET
        previous = current, previous_until = ${new Date(by.now.getTime() + previousSignsForMs)},
        current = ${box.seal(newSigningSecret(), owner)}
      WHERE account = ${owner.account} AND mode = ${owner.mode}`,
  });

/** Removes the webhook; its secrets are destroyed with it. */
export const remove = (sql: Sql, owner: Owner, by: By): Promise<void> =>
  decideOn(sql, owner, by, {
    decide: (loaded) => removeWebhook(existing(loaded)),
    keepSecret: (tx) => tx`DELETE FROM webhook_secrets WHERE account = ${owner.account} AND mode = ${owner.mode}`,
  });

/** Switches a webhook off by itself. One that is gone or off already stays so. */
export const disable = (sql: Sql, owner: Owner, reason: DisabledReason, now: Date): Promise<void> =>
  decideOn(
    sql,
    owner,
    { actor: service, now },
    {
      decide: ({ webhook }) => (webhook === undefined ? [] : disableWebhook(webhook, reason)),
    },
  );

const appliedWithinMs = 5_000;

/**
 * Waits until the deliveries have followed everything that happened to the account. What is sent again before would be
 * dropped with what waited when the webhook last stopped.
 */
export async function untilFollowed(sql: Sql, account: string): Promise<void> {
  const deadline = performance.now() + appliedWithinMs;
  for (;;) {
    const [row] = await sql<{ followed: boolean | null }[]>`
      SELECT (SELECT position FROM checkpoints WHERE projection = 'webhooks')
        >= (SELECT position FROM events WHERE stream = ${account} ORDER BY version DESC LIMIT 1) AS followed`;
    if (row?.followed) return;
    if (performance.now() > deadline)
      throw new Refusal('unavailable', 'Deliveries are behind: try again in a few seconds.', undefined, {
        'retry-after': '5',
      });
    await sleep(50);
  }
}

export const noWebhook = () => new Refusal('not_found', 'No webhook is set in this mode: set one with PUT.');

function existing({ webhook }: Loaded): Webhook {
  if (webhook === undefined) throw noWebhook();
  return webhook;
}

interface Decision {
  decide(loaded: Loaded): AccountEvent[];
  /** What becomes of the secrets, which are in no event, in the same transaction. */
  keepSecret?(tx: Transaction): Promise<unknown>;
}

async function decideOn(sql: Sql, owner: Owner, by: By, { decide, keepSecret }: Decision): Promise<void> {
  await decideAndAppend<Loaded, AccountEvent>(sql, owner.account, {
    load: () => load(sql, owner),
    decide: (loaded) => {
      if (!hasWebhooks(loaded.plan) && by.actor !== service) throw planRequired();
      return decide(loaded);
    },
    project: async (tx, { webhook, ...account }, events) => {
      const before = { accounts: [account], webhooks: webhook === undefined ? [] : [webhook] };
      await Promise.all([writeState(tx, before, events), keepSecret?.(tx)]);
    },
    by,
  });
}

export const planRequired = () =>
  new Refusal('plan_required', 'Webhooks come with the plans Pro, Business and Enterprise; this account is on Free.');

type LoadedRow = Account & Pick<Webhook, 'status' | 'reason' | 'since'> & { url: string | null; set_at: Date };

/** One statement, so one snapshot: the version must be the one that the webhook was read at. */
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
