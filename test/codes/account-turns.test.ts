import { expect, test } from 'vitest';
import { createAccount } from '../../src/accounts/accounts.ts';
import { updateMany } from '../../src/codes/bulk-update.ts';
import { createCodes } from '../../src/codes/create.ts';
import { revert } from '../../src/codes/revert.ts';
import { Filter } from '../../src/feed/filter.ts';
import { readPage } from '../../src/feed/read-page.ts';
import { accountTurn } from '../../src/lib/account-turns.ts';
import { useDatabase } from '../support/database.ts';
import { testBox } from '../support/secret-box.ts';

const database = useDatabase();
const now = new Date();
const options = { signal: new AbortController().signal, ownUrls: [], onRecorded: async () => {}, isDryRun: false };

/** An account with a code, and its operations that take long. */
async function newAccount() {
  const { sql } = database;
  const { id: account } = await createAccount(sql, { name: 'Test', plan: 'free', now });
  const owner = { account, mode: 'test' as const };
  const request = { name: 'Menu', destination_url: 'https://example.com' };
  const [made] = await sql.begin((tx) => createCodes(tx, testBox, owner, [request], { actor: 'key_1', now }));
  const ids = [made?.code.id ?? ''];
  const change = { set: { active: false } };
  return {
    account,
    operations: [
      () => updateMany(sql, owner, ids, { ...options, change, now: () => now }, { actor: 'key_2', now }),
      () => revert(sql, owner, { ...options, actor: 'key_3', from: now, to: now }, { actor: 'key_2', now }),
      () => readPage(sql, owner, { after: 0, filter: new Filter({}), limit: 10 }),
    ],
  };
}

test('reverts, bulk updates and pages of events of an account wait for its turn, and those of others do not', async () => {
  const [one, other] = [await newAccount(), await newAccount()];
  const held = Promise.withResolvers<void>();
  const holding = accountTurn(one.account, () => held.promise);
  let ended = 0;
  const waiting = one.operations.map((operation) => operation().then(() => ended++));
  for (const operation of other.operations) await operation();
  expect(ended).toBe(0);
  held.resolve();
  await Promise.all([holding, ...waiting]);
});

test('a step that fails does not keep the turn', async () => {
  await expect(accountTurn('acct_a', () => Promise.reject(new Error('no connection')))).rejects.toThrow(
    'no connection',
  );
  expect(await accountTurn('acct_a', async () => 'done')).toBe('done');
});
