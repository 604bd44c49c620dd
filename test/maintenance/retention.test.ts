import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { ledger } from '../../projections/warehouse-ledger.ts';
import { countRowsByCode } from '../../src/analytics/row-counts.ts';
import { createMetrics } from '../../src/lib/metrics.ts';
import { timeouts } from '../../src/lib/timeouts.ts';
import { replayAnalytics } from '../../src/maintenance/replay-analytics.ts';
import { replayState } from '../../src/maintenance/replay-state.ts';
import { cutoffOf, latestRun } from '../../src/maintenance/retention.ts';
import { runRetention } from '../../src/maintenance/run-retention.ts';
import { verify } from '../../src/maintenance/verify.ts';
import { connectStream } from '../../src/stream/connect.ts';
import { findLostTail } from '../../src/stream/lost-tail.ts';
import { command } from '../support/command.ts';
import { uniqueName } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { captureLog } from '../support/log-lines.ts';
import { type TestAccount, useService } from '../support/service.ts';
import { removeStream } from '../support/streams.ts';
import { dumpTable } from '../support/tables.ts';
import { answer, useReceiver } from '../webhooks/receiver.ts';
import { codeOf, mayCallTests, scanCode, setHook, untilThereAre, untilTried } from '../webhooks/webhook-support.ts';

const months = 2;
const today = new Date();
const cutoff = cutoffOf(months, today);
const dayMs = 86_400_000;
const daysAfterCutoff = (days: number) => new Date(cutoff.getTime() + days * dayMs);
/** The time of the service's clock. */
let now = daysAfterCutoff(-10);

const stream = uniqueName();
const captured = captureLog();
const service = useService({
  config: { ...mayCallTests, stream, scanRetentionMonths: months },
  clock: () => now,
  log: captured.log,
});
const receiver = useReceiver();
afterAll(() => removeStream(stream));
const sql = () => service.database.sql;
const differences = async () => (await verify({ sql: sql(), warehouse: service.warehouse, now })).differences;

let account: TestAccount;
let hooked: TestAccount;
let code: { id: string; short_code: string };
let other: { id: string; short_code: string };
/** Totals of both codes: before the retention, after it, and after the returning visitor's second scan. */
let totals: Record<'before' | 'after' | 'returned', unknown>;
let differencesMeanwhile: unknown[];

/** A scan of the visitor who scans before the cutoff, and again after that scan is removed. */
const scanAsReturningVisitor = () =>
  fetch(`${service.urls[0]}/${code.short_code}`, {
    redirect: 'manual',
    headers: { 'x-forwarded-for': '81.2.69.160', 'user-agent': 'a returning visitor' },
  });
const totalsOf = async (id: string) => {
  const { body } = await account.live.get(`/v1/qrcodes/${id}`);
  return { total_scans: body.total_scans, unique_scans: body.unique_scans };
};
const bothTotals = async () => [await totalsOf(code.id), await totalsOf(other.id)];
const scansBetween = async (from: Date, to: Date) => {
  const query = `start_date=${from.toISOString()}&end_date=${to.toISOString()}`;
  const { status, body } = await account.live.get(`/v1/qrcodes/${code.id}/analytics?${query}`);
  expect(status).toBe(200);
  return body.summary.total_scans;
};
const oldScansInWarehouse = async () => {
  const table = await ledger.inUse(sql());
  const all = { version: table?.version ?? 0, account: undefined, position: table?.position ?? 0 };
  const count = async (without?: { before: Date; up_to: number }) =>
    [...(await countRowsByCode(service.warehouse, { ...all, without })).values()].reduce(
      (sum, { total }) => sum + total,
      0,
    );
  return (await count()) - (await count({ before: cutoff, up_to: all.position }));
};
const run = (...args: string[]) => command(args, { DATABASE_URL: service.database.url });

/** Sets the time of the next attempt of the pending delivery. */
async function makeDeliveryDue(due_at: Date): Promise<void> {
  await sql()`UPDATE endpoints SET due_at = ${due_at}, failing_since = NULL WHERE account = ${hooked.id}`;
  await sql()`UPDATE deliveries SET due_at = ${due_at} WHERE account = ${hooked.id}`;
}

/** Scans before the cutoff, in the month that begins with it, and today; then the retention runs. */
beforeAll(async () => {
  account = await service.account();
  [code, other] = [await codeOf(account.live), await codeOf(account.live)];
  const url = service.urls[0] as string;
  await scanCode(url, code, 6);
  await scanAsReturningVisitor();
  await scanCode(url, other, 3);
  await service.allStored();
  await eventually(async () => expect(await differences()).toEqual([]));
  hooked = await service.account();
  receiver.behave('waits', answer(500));
  await setHook(hooked.live, receiver.url('waits'));
  await scanCode(url, await codeOf(hooked.live));
  await untilTried(sql(), hooked.id, 1);
  await makeDeliveryDue(new Date('2200-01-01'));
  now = daysAfterCutoff(3);
  await scanCode(url, code, 4);
  now = today;
  await scanCode(url, code, 2);
  await service.allStored();
  await eventually(async () => expect(await differences()).toEqual([]));
  const before = await bothTotals();
  expect(await oldScansInWarehouse()).toBe(11);

  // The service's own retention starts only after `timeouts.retentionStartMs`.
  const retention = runRetention({
    sql: sql(),
    databaseUrl: service.database.url,
    months,
    log: captured.log,
    metrics: createMetrics(),
    clock: () => now,
    times: { firstMs: 0, everyMs: 50, waitMs: 20 },
  });
  differencesMeanwhile = await differences();
  await eventually(async () => expect(await latestRun(sql())).toMatchObject({ done_at: expect.any(Date) }));
  await eventually(async () => {
    const [table] = await sql()`SELECT last_vacuum FROM pg_stat_user_tables WHERE relname = 'scans_0'`;
    expect(table?.['last_vacuum'], 'the space of deleted rows is reusable').toEqual(expect.any(Date));
  });
  await retention.stop();
  const after = await bothTotals();
  expect((await scanAsReturningVisitor()).status).toBe(302);
  await service.allStored();
  expect(await differences()).toEqual([]);
  totals = { before, after, returned: await bothTotals() };
});

test('scans from before the cutoff are removed from log and warehouse, and the service logs it', async () => {
  expect(await sql()`SELECT 1 FROM scans WHERE occurred_at < ${cutoff}`).toHaveLength(0);
  expect(await sql()`SELECT 1 FROM scans`).toHaveLength(7);
  expect(await oldScansInWarehouse()).toBe(0);
  const lines = captured.lines();
  expect(lines).toContainEqual(
    expect.objectContaining({ level: 'warn', months, begins_in_ms: timeouts.retentionStartMs }),
  );
  expect(lines).toContainEqual(
    expect.objectContaining({
      level: 'info',
      before: cutoff.toISOString(),
      scans: 11,
      msg: 'old scans are removed from the log and the warehouse',
    }),
  );
});

test('totals of codes stay, and analytics have only scans since the cutoff', async () => {
  expect(totals.before).toEqual([
    { total_scans: 13, unique_scans: 13 },
    { total_scans: 3, unique_scans: 3 },
  ]);
  expect(totals.after).toEqual(totals.before);
  expect(await scansBetween(daysAfterCutoff(-60), new Date(cutoff.getTime() - 1))).toBe(0);
  expect(await scansBetween(cutoff, daysAfterCutoff(10))).toBe(4);
  expect(await scansBetween(daysAfterCutoff(-60), now)).toBe(7);
});

test('verify finds no difference during and after the removal, and reports how many scans are removed', async () => {
  expect(differencesMeanwhile).toEqual([]);
  expect(await verify({ sql: sql(), warehouse: service.warehouse, now })).toMatchObject({
    scans: 7,
    dropped: 11,
    differences: [],
  });
});

test('a pending delivery is sent after its scan is removed', async () => {
  receiver.behave('waits', answer(200));
  await makeDeliveryDue(now);
  await untilThereAre(sql(), hooked.id, 1, 'delivered');
  expect(receiver.received('waits').map(({ id }) => id)).toHaveLength(2);
  expect(await differences()).toEqual([]);
});

test('the log has an event of the removal, and the relay finds no lost tail', async () => {
  const { output } = await run('events', '--stream', 'service', '--json');
  expect(JSON.parse(output)).toMatchObject({
    type: 'scans_dropped',
    actor: 'scanlog',
    stream: 'service',
    data: { before: cutoff.toISOString(), scans: 11, up_to_position: expect.any(Number) },
  });
  const nats = await connectStream(inject('stack').natsUrl, 'test', new AbortController().signal);
  const manager = await nats.jetstreamManager();
  expect(await findLostTail(sql(), manager, stream, new AbortController().signal)).toBeUndefined();
  await nats.close();
  expect(await service.metrics()).toContain('scanlog_lost_tails_total 0');
});

test('replays of counters, state and analytics change nothing', async () => {
  const tables = ['scan_counts', 'dropped_scans', 'visitors', 'codes', 'blocked_hosts'];
  const dump = () => Promise.all(tables.map((table) => dumpTable(sql(), table)));
  const dumped = await dump();
  expect((await replayState(sql())).corrected).toBe(0);
  expect(await dump()).toEqual(dumped);
  await replayAnalytics({ sql: sql(), warehouse: service.warehouse });
  expect(await differences()).toEqual([]);
  expect(await oldScansInWarehouse()).toBe(0);
});

test('a visitor whose first scan is removed does not count as new', () => {
  expect(totals.returned).toEqual([
    { total_scans: 14, unique_scans: 13 },
    { total_scans: 3, unique_scans: 3 },
  ]);
});
