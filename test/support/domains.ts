import { expect } from 'vitest';
import type { Account, AccountEvent } from '../../events/account.ts';
import { type AccountDomainEvent, type Domain, isDomainEvent } from '../../events/domain.ts';
import { writeState } from '../../projections/state.ts';
import { findAccount } from '../../src/accounts/accounts.ts';
import { newId } from '../../src/lib/ids.ts';
import { decideAndAppend } from '../../src/log/decide.ts';
import { eventually } from './eventually.ts';
import type { TestService } from './service.ts';

/** Appends events of a domain without any proof, and waits until all instances serve it, or no longer do. */
export async function appendToDomain(
  { database: { sql }, urls }: Pick<TestService, 'database' | 'urls'>,
  account: string,
  name: string,
  events: AccountDomainEvent[],
  isServed: boolean,
): Promise<void> {
  await decideAndAppend<Account, AccountEvent>(sql, account, {
    load: async () => (await findAccount(sql, account)) as Account,
    decide: () => events,
    project: async (tx, before, pending) => {
      const ids = pending.filter(isDomainEvent).map(({ data }) => data.domain);
      const domains = await tx<Domain[]>`SELECT * FROM domains WHERE id = ANY(${ids})`;
      return writeState(tx, { accounts: [before], domains }, pending);
    },
    by: { actor: 'test', now: new Date() },
  });
  for (const url of urls)
    await eventually(async () => {
      const { status } = await fetch(`${url}/internal/tls?domain=${name}`);
      expect(status, `${name} on ${url}`).toBe(isServed ? 200 : 404);
    });
}

/** A domain of the account whose links are served. */
export async function givenDomain(
  service: Pick<TestService, 'database' | 'urls'>,
  account: string,
  name: string,
): Promise<{ domain: string; name: string }> {
  const identity = { domain: newId('dom', Date.now()), name };
  const added: AccountDomainEvent = { type: 'domain_added', data: { ...identity, token: 'token' } };
  await appendToDomain(service, account, name, [added, { type: 'domain_verified', data: identity }], true);
  return identity;
}
