import { beforeEach, expect, test } from 'vitest';
import { isScan } from '../../events/entry.ts';
import { Superseded } from '../../projections/checkpoint.ts';
import { maxDeliveries } from '../../projections/webhook-parts.ts';
import { webhooks } from '../../projections/webhooks.ts';
import { readRange } from '../../src/log/read.ts';
import { verifyDeliveries } from '../../src/maintenance/verify-deliveries.ts';
import { Lookahead } from '../../src/webhooks/lookahead.ts';
import { useWebhookAccounts } from '../projections/webhook-accounts.ts';

const { database, newAccount, catchUp, dropAll } = useWebhookAccounts();
const many = maxDeliveries + 100;
const checkpoint = () => webhooks.checkpoint(database.sql);
const differences = async () => (await verifyDeliveries(database.sql)).differences;

/** Two accounts with a webhook; the first has more new scans than the projection stores at once. */
async function aFlood() {
  const [flooding, other] = [await newAccount(), await newAccount()];
  for (const account of [flooding, other]) await account.set();
  await catchUp();
  await flooding.scan(many);
  return { flooding, other, lookahead: new Lookahead(database.sql) };
}

type Account = Awaited<ReturnType<typeof newAccount>>;
const countOf = async (account: Account) => (await account.deliveries()).length;

beforeEach(() => catchUp());

test('other accounts get their deliveries before the many of one, and each account all of them once', async () => {
  const { flooding, other, lookahead } = await aFlood();
  await other.scan(3);
  const endpoints = await lookahead.advance(await checkpoint(), new Date());
  expect(endpoints).toEqual([{ account: other.account, webhook: 'live' }]);
  expect([await countOf(flooding), await countOf(other)]).toEqual([0, 3]);
  expect(await differences(), 'deliveries after the checkpoint belong to the log').toEqual([]);

  await other.scan(2);
  await lookahead.advance(await checkpoint(), new Date());
  expect([await countOf(flooding), await countOf(other)]).toEqual([0, 5]);
  // As after a restart.
  await new Lookahead(database.sql).advance(await checkpoint(), new Date());
  await catchUp();
  expect([await countOf(flooding), await countOf(other)]).toEqual([many, 5]);
  expect(await differences()).toEqual([]);
});

test('later scans of an account that was left wait for the earlier ones, until the projection has passed them', async () => {
  const { flooding, lookahead } = await aFlood();
  await lookahead.advance(await checkpoint(), new Date());
  await flooding.scan(1);
  await lookahead.advance(await checkpoint(), new Date());
  expect(await countOf(flooding)).toBe(0);
  await catchUp();
  await flooding.scan(1);
  await lookahead.advance(await checkpoint(), new Date());
  expect(await countOf(flooding)).toBe(many + 2);
});

test('an account whose webhook changes is left to the projection, which knows its state at each scan', async () => {
  const { other, lookahead } = await aFlood();
  await other.scan(2);
  await other.remove();
  await other.scan(4);
  await other.set();
  await lookahead.advance(await checkpoint(), new Date());
  await other.scan(1);
  await lookahead.advance(await checkpoint(), new Date());
  expect(await countOf(other)).toBe(0);
  await catchUp();
  await dropAll();
  const statuses = (await other.deliveries()).map(({ status }) => status);
  expect(statuses.toSorted()).toEqual(['failed', 'failed', 'pending']);
  expect(await differences()).toEqual([]);
});

test('a webhook that was off at the checkpoint gets nothing', async () => {
  const { lookahead } = await aFlood();
  const off = await newAccount();
  await off.set();
  await off.remove();
  await catchUp();
  await off.scan(3);
  await lookahead.advance(await checkpoint(), new Date());
  expect(await countOf(off)).toBe(0);
});

test('up to half of the deliveries go ahead, those of the smallest account first, when many have many', async () => {
  const accounts = await Promise.all([1, 2, 3].map(() => newAccount()));
  for (const account of accounts) await account.set();
  await catchUp();
  for (const [i, account] of accounts.entries()) await account.scan(maxDeliveries + i);
  await new Lookahead(database.sql).advance(await checkpoint(), new Date());
  expect(await Promise.all(accounts.map(countOf))).toEqual([maxDeliveries, 0, 0]);
});

test('the projection skips the scans whose deliveries exist, and no others', async () => {
  const { flooding, other, lookahead } = await aFlood();
  await other.scan(3);
  const before = await checkpoint();
  const range = await readRange(database.sql, before, 5_000);
  expect(lookahead.remaining(range)).toEqual(range);
  await lookahead.advance(before, new Date());
  const accounts = lookahead.remaining(range).entries.map((entry) => (isScan(entry) ? entry.account : entry.stream));
  expect(new Set(accounts)).toEqual(new Set([flooding.account]));
  expect(accounts).toHaveLength(many);
  await webhooks.apply(database.sql, lookahead.remaining(range), new Date());
  expect([await countOf(flooding), await countOf(other)]).toEqual([many, 3]);
  expect(await differences()).toEqual([]);
});

test('nothing is created of a range that the checkpoint has passed, or while the projection is rewound', async () => {
  const { other } = await aFlood();
  await other.scan(2);
  const range = await readRange(database.sql, await checkpoint(), 5_000);
  await other.remove();
  await catchUp();
  await database.sql`DELETE FROM deliveries WHERE account = ${other.account}`;
  await other.set();
  await catchUp();
  expect(await webhooks.applyAhead(database.sql, range, new Date())).toEqual([]);
  expect(await countOf(other)).toBe(0);
  await database.sql.begin((tx) => webhooks.rewind(tx, range.after, []));
  await expect(webhooks.applyAhead(database.sql, range, new Date())).rejects.toThrow(Superseded);
  expect(await countOf(other)).toBe(0);
});
