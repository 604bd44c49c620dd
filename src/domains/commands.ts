import { type Account, type AccountEvent, changePrimaryDomain, removeDomain } from '../../events/account.ts';
import { changeDomain, type Domain, type DomainSettings } from '../../events/domain.ts';
import { limitsOf } from '../../events/plans.ts';
import type { Actor, Recorded } from '../../events/recorded.ts';
import { writeState } from '../../projections/state.ts';
import { notFound, Refusal } from '../lib/errors.ts';
import { isId, newDomainToken, newId } from '../lib/ids.ts';
import type { Sql } from '../lib/sql.ts';
import { decideAndAppend } from '../log/decide.ts';
import { firstCheckAt, requestCheck } from './schedule.ts';

export interface By {
  actor: Actor;
  now: Date;
}

/** For this long after its removal, a domain that was verified can only be claimed by the account that had it. */
const lockedAfterRemovalMs = 30 * 86_400_000;

/**
 * Claims a name for an account: the domain redirects once the claim is proved. Returns its id. Throws 409 if another account has
 * the domain, unless the proof of that account is gone; the proof is then checked soon, so that a domain that has changed hands
 * is free for its new owner.
 */
export async function claim(
  sql: Sql,
  account: string,
  name: string,
  by: By,
): Promise<{ id: string; recorded: Recorded<AccountEvent>[] }> {
  const id = newId('dom', by.now.getTime());
  try {
    const { recorded } = await decideAndAppend<LoadedForClaim, AccountEvent>(sql, account, {
      load: () => loadForClaim(sql, account, name),
      decide(loaded) {
        refuseClaim(loaded, name, by.now);
        return [{ type: 'domain_added', data: { domain: id, name, token: newDomainToken() } }];
      },
      async project(tx, before, events) {
        await writeState(tx, { accounts: [before.account] }, events);
        await tx`
          INSERT INTO domain_checks (domain, account, next_at) VALUES (${id}, ${account}, ${firstCheckAt(by.now)})`;
      },
      by,
    });
    return { id, recorded };
  } catch (error) {
    if (error instanceof ActiveElsewhere) await requestCheck(sql, name, by.now);
    throw error;
  }
}

/** Changes the settings of a domain, and whether the console suggests it for new codes. */
export async function change(
  sql: Sql,
  account: string,
  id: string,
  { primary, ...settings }: Partial<DomainSettings> & { primary?: boolean },
  by: By,
): Promise<Recorded<AccountEvent>[]> {
  const { recorded } = await decideAndAppend<LoadedDomain, AccountEvent>(sql, account, {
    load: () => loadDomain(sql, account, id),
    decide: (before) => [...changeDomain(before.domain, settings), ...choosePrimary(before, primary)],
    project: (tx, before, events) => writeState(tx, { accounts: [before.account], domains: [before.domain] }, events),
    by,
  });
  return recorded;
}

function choosePrimary({ account, domain }: LoadedDomain, primary: boolean | undefined): AccountEvent[] {
  if (primary === undefined) return [];
  if (primary) return changePrimaryDomain(account, domain.id);
  return account.primary_domain === domain.id ? changePrimaryDomain(account, null) : [];
}

/** Removes a domain: its links answer 404 from now on. Its codes stay. */
export async function remove(sql: Sql, account: string, id: string, by: By): Promise<Recorded<AccountEvent>[]> {
  const { recorded } = await decideAndAppend<LoadedDomain, AccountEvent>(sql, account, {
    load: () => loadDomain(sql, account, id),
    decide: (before) => removeDomain(before.account, before.domain, 'removed'),
    async project(tx, before, events) {
      await writeState(tx, { accounts: [before.account], domains: [before.domain] }, events);
      await tx`DELETE FROM domain_checks WHERE domain = ${id}`;
    },
    by,
  });
  return recorded;
}

interface LoadedDomain {
  version: number;
  account: Account;
  domain: Domain;
}

/** Reads account and domain in one snapshot, so that the version belongs to what is decided on. */
const loadDomain = (sql: Sql, accountId: string, id: string): Promise<LoadedDomain> =>
  sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (tx) => {
    const [[account], [domain]] = await Promise.all([
      tx<Account[]>`SELECT * FROM accounts WHERE id = ${accountId}`,
      tx<Domain[]>`
        SELECT * FROM domains
        WHERE id = ${isId('dom', id) ? id : ''} AND account = ${accountId} AND status <> 'removed'`,
    ]);
    if (account === undefined) throw notFound('account');
    if (domain === undefined) throw notFound('domain');
    return { version: account.version, account, domain };
  });

interface LoadedForClaim {
  version: number;
  account: Account;
  /** How many domains the account has. */
  count: number;
  /** The account's own claim of the name; undefined if it has none. */
  own: string | undefined;
  /** The domain of another account that was the last to be verified with this name. */
  other: Pick<Domain, 'status' | 'removed_at'> | undefined;
}

const loadForClaim = (sql: Sql, id: string, name: string): Promise<LoadedForClaim> =>
  sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (tx) => {
    const [[account], [{ count }], [own], [last]] = await Promise.all([
      tx<Account[]>`SELECT * FROM accounts WHERE id = ${id}`,
      tx<[{ count: number }]>`SELECT count(*) FROM domains WHERE account = ${id} AND status <> 'removed'`,
      tx<Domain[]>`SELECT * FROM domains WHERE name = ${name} AND account = ${id} AND status <> 'removed'`,
      tx<Domain[]>`
        SELECT * FROM domains WHERE name = ${name} AND verified_at IS NOT NULL
        ORDER BY (status <> 'removed') DESC, removed_at DESC, verified_at DESC LIMIT 1`,
    ]);
    if (account === undefined) throw notFound('account');
    const other = last?.account === id ? undefined : last;
    return { version: account.version, account, count, own: own?.id, other };
  });

/** The domain is active in another account. */
class ActiveElsewhere extends Refusal {}

function refuseClaim({ account: { plan }, count, own, other }: LoadedForClaim, name: string, now: Date): void {
  if (own !== undefined) throw new Refusal('domain_taken', `This account has claimed ${name} already: ${own}.`);
  const limit = limitsOf[plan].domains;
  if (count >= limit)
    throw new Refusal(
      'quota_exceeded',
      `The ${plan} plan allows ${limit === 1 ? '1 domain' : `${limit} domains`}, and ${count === 1 ? '1 exists' : `${count} exist`}: remove one or change the plan.`,
    );
  if (other?.status === 'active')
    throw new ActiveElsewhere(
      'domain_taken',
      `Another account uses ${name}. If it is yours, remove the TXT record of that account: its proof is checked now, so try again in a minute.`,
    );
  const lockedUntil = other?.removed_at ? other.removed_at.getTime() + lockedAfterRemovalMs : 0;
  if (other?.status === 'removed' && lockedUntil > now.getTime())
    throw new Refusal(
      'domain_taken',
      `Another account has removed ${name} recently, and can take it back until ${new Date(lockedUntil).toISOString()}: try again then.`,
    );
}
