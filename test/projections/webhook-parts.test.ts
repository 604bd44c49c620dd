import { expect, test } from 'vitest';
import { isScan, type LogEntry, type LogRange } from '../../events/entry.ts';
import { maxDeliveries, partsOf } from '../../projections/webhook-parts.ts';
import { webhooks } from '../../projections/webhooks.ts';
import { readRange } from '../../src/log/read.ts';
import { useWebhookAccounts } from './webhook-accounts.ts';

const { database, newAccount, catchUp } = useWebhookAccounts();

const unread = async () => readRange(database.sql, await webhooks.checkpoint(database.sql), 5_000);

/** Every entry is in one part, in the order of the log, and each part begins where the one before ends. */
function expectAllOf(range: LogRange, parts: LogRange[]): void {
  expect(parts.map(({ after }) => after)).toEqual([range.after, ...parts.slice(0, -1).map(({ to }) => to)]);
  expect(parts.at(-1)?.to).toBe(range.to);
  const positions = parts.flatMap(({ entries }) => entries.map(({ position }) => position));
  expect(positions).toEqual(range.entries.map(({ position }) => position));
  for (const { after, to, entries } of parts)
    expect(entries.every(({ position }) => position > after && position <= to)).toBe(true);
}

test('many scans of an account with webhooks are applied in several transactions, with all deliveries', async () => {
  const [account, other] = [await newAccount(), await newAccount()];
  await account.set();
  await catchUp();
  await other.scan(500);
  await account.scan(maxDeliveries + 100);
  const range = await unread();
  const parts = await partsOf(database.sql, range);
  expectAllOf(range, parts);
  const deliveries = parts.map(
    ({ entries }) => entries.filter((entry) => isScan(entry) && entry.account === account.account).length,
  );
  expect(deliveries).toEqual([maxDeliveries, 100]);
  for (const part of parts) await webhooks.apply(database.sql, part, new Date());
  expect(await account.deliveries()).toHaveLength(maxDeliveries + 100);
  expect((await unread()).to, 'nothing is left').toBe(range.to);
});

test('scans without deliveries are applied at once, however many', async () => {
  const account = await newAccount();
  await catchUp();
  await account.scan(3 * maxDeliveries);
  const { after, to, entries } = await unread();
  expect(await partsOf(database.sql, { after, to, entries })).toEqual([{ after, to, entries }]);
});

test('changes count as if each were delivered to all webhooks that an account can have', async () => {
  const change = (position: number) => ({ type: 'code_paused', position }) as unknown as LogEntry;
  const range = { after: 10, to: 250, entries: Array.from({ length: 200 }, (_, i) => change(i + 11)) };
  const parts = await partsOf(database.sql, range);
  expectAllOf(range, parts);
  expect(parts.map(({ entries }) => entries.length)).toEqual([90, 90, 20]);
});
