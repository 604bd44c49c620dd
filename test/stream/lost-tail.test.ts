import { describe, expect, test } from 'vitest';
import { counters } from '../../projections/counters.ts';
import { webhooks } from '../../projections/webhooks.ts';
import { createAccount } from '../../src/accounts/accounts.ts';
import { createCodes } from '../../src/codes/create.ts';
import type { Sql } from '../../src/lib/sql.ts';
import { append } from '../../src/log/append.ts';
import { appendScans, batchOf } from '../../src/log/append-scans.ts';
import { floorOfLog } from '../../src/log/floor.ts';
import { headOfLog, readRange } from '../../src/log/read.ts';
import { runCounters } from '../../src/service/run-counters.ts';
import { abandonTail, findLostTail } from '../../src/stream/lost-tail.ts';
import { startRelay } from '../../src/stream/relay.ts';
import { opened } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { scanned } from '../support/scans.ts';
import { testBox } from '../support/secret-box.ts';
import { countsOf, held, publish, scan, useStream } from './stream-support.ts';

const stream = useStream();

/** Simulates a failover to a replica that has received the log up to `position`. */
async function loseTail(sql: Sql, position: number): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`ALTER TABLE scans DISABLE TRIGGER USER`;
    await tx`ALTER TABLE events DISABLE TRIGGER USER`;
    await tx`DELETE FROM scans WHERE position > ${position}`;
    await tx`DELETE FROM events WHERE position > ${position}`;
    await tx`ALTER TABLE scans ENABLE TRIGGER USER`;
    await tx`ALTER TABLE events ENABLE TRIGGER USER`;
    await tx`SELECT setval('log_position', ${position})`;
  });
}

const lostTails = async ({
  metrics,
}: {
  metrics: { lostTails: { get(): Promise<{ values: { value: number }[] }> } };
}) => (await metrics.lostTails.get()).values[0]?.value ?? 0;

const lostIn = (sql: Sql, name: string) => findLostTail(sql, stream.manager, name, new AbortController().signal);

describe('the comparison of stream and log', () => {
  /** Creates a log of 10 scans and an account, all of it in the stream; a failover keeps the log up to `kept`. */
  async function relayed() {
    const fresh = await stream.fresh();
    const { sql, stream: name } = fresh;
    await stream.manager.streams.add({ name, subjects: [`${name}.changes`, `${name}.scans`] });
    await scan(sql, 3);
    const kept = await headOfLog(sql);
    await publish(stream, name, await readRange(sql, 0, 1_000));
    await scan(sql, 2);
    await sql.begin((tx) => append(tx, [opened()], { actor: 'operator', now: new Date() }));
    await publish(stream, name, await readRange(sql, kept, 1_000));
    return { ...fresh, kept, end: await headOfLog(sql) };
  }

  test('finds no loss when both are equal or the stream lags', async () => {
    const { sql, stream: name } = await relayed();
    expect(await lostIn(sql, name)).toBeUndefined();
    await scan(sql, 1);
    expect(await lostIn(sql, name), 'the stream lags').toBeUndefined();
  });

  test('finds the lost events when the stream is ahead of the log', async () => {
    const { sql, stream: name, kept, end } = await relayed();
    await loseTail(sql, kept);
    expect(await lostIn(sql, name)).toMatchObject({
      agreedTo: kept,
      lostTo: end,
      reported: { length: 4 },
    });
  });

  test('finds the lost events when the log has grown past them, with other events at the same positions', async () => {
    const { sql, stream: name, kept, end } = await relayed();
    await loseTail(sql, kept);
    await scan(sql, 10);
    expect(await headOfLog(sql)).toBeGreaterThan(end);
    expect(await lostIn(sql, name)).toMatchObject({
      agreedTo: kept,
      lostTo: end,
      reported: { length: 4 },
    });
  });

  test('finds the lost events when events of the new log were published after them', async () => {
    const { sql, stream: name, kept, end } = await relayed();
    await loseTail(sql, kept);
    await scan(sql, 10);
    await publish(stream, name, await readRange(sql, end, 1_000));
    expect(await lostIn(sql, name)).toMatchObject({
      agreedTo: kept,
      lostTo: end,
      reported: { length: 4 },
    });
  });

  test('finds no loss when an unacknowledged batch was appended again at the same positions', async () => {
    const { sql, stream: name } = await relayed();
    const before = await headOfLog(sql);
    const batch = batchOf('writer', 1, [scanned({ code: 'qr_1' }), scanned({ code: 'qr_1' })]);
    await appendScans(sql, batch);
    await publish(stream, name, await readRange(sql, before, 1_000));
    await loseTail(sql, before);
    await sql`DELETE FROM scan_writers WHERE writer = 'writer'`;
    await appendScans(sql, batch);
    expect(await lostIn(sql, name)).toBeUndefined();
  });

  test('finds no loss once the tail is abandoned, and the log continues at unused positions', async () => {
    const { sql, stream: name, kept, end } = await relayed();
    await loseTail(sql, kept);
    const floor = await abandonTail(sql, { agreedTo: kept, lostTo: end, reported: [] });
    expect(floor).toBeGreaterThan(end);
    expect(await floorOfLog(sql)).toBe(floor);
    expect(await headOfLog(sql)).toBe(floor);
    await scan(sql, 1);
    expect((await readRange(sql, kept, 100)).entries.map(({ position }) => position)).toEqual([floor + 1, floor + 2]);
    expect(await lostIn(sql, name)).toBeUndefined();
  });
});

describe('after a log has lost relayed events', () => {
  /** A rebuild counts only codes that exist. */
  async function createCode(sql: Sql): Promise<string> {
    const now = new Date();
    const { id: account } = await createAccount(sql, { name: 'Test', plan: 'enterprise', now });
    const request = { name: 'Code', destination_url: 'https://example.com/' };
    const [created] = await sql.begin((tx) =>
      createCodes(tx, testBox, { account, mode: 'live' }, [request], { actor: 'operator', now }),
    );
    return created?.code.id ?? '';
  }

  test.each([
    ['fewer', 1],
    ['more', 20],
  ])('and has %s new ones at their positions, the relay detects the loss, and counters are exact', async (_, more) => {
    const { sql, common, stream: name } = await stream.fresh();
    const code = await createCode(sql);
    const before = startRelay(common);
    await eventually(async () => {
      await scan(sql, 1, code);
      expect(await held(stream, name)).not.toHaveLength(0);
    });
    const kept = await headOfLog(sql);
    await scan(sql, 5, code);
    await eventually(async () => expect((await held(stream, name)).at(-1)?.to).toBe(await headOfLog(sql)));
    await before.stop();
    await loseTail(sql, kept);
    await scan(sql, more, code);

    // The counters start first, so they count the lost scans from the stream.
    const counting = runCounters(common);
    await eventually(async () => expect(await counters.checkpoint(sql)).toBeGreaterThan(kept));
    const after = startRelay(common);
    // Wait until the floor is raised, because scans below it are not published.
    await eventually(async () => expect(await floorOfLog(sql)).toBeGreaterThan(0));
    expect(await lostTails(common)).toBeGreaterThan(0);
    await scan(sql, 2, code);
    const [{ total }] = await sql<[{ total: number }]>`SELECT count(*) AS total FROM scans`;
    await eventually(async () => expect(await countsOf(sql, code)).toEqual([total, total]));
    await eventually(async () => expect((await held(stream, name)).at(-1)?.to).toBe(await headOfLog(sql)));
    await Promise.all([after.stop(), counting.stop()]);
  });

  test('and a projection that is ahead of it detects the loss first, webhooks report the new ones at their positions', async () => {
    const { sql, common, stream: name } = await stream.fresh();
    const code = await createCode(sql);
    await stream.manager.streams.add({ name, subjects: [`${name}.changes`, `${name}.scans`] });
    await publish(stream, name, await readRange(sql, 0, 1_000));
    const kept = await headOfLog(sql);
    await scan(sql, 5, code);
    await publish(stream, name, await readRange(sql, kept, 1_000));
    // Both have applied the lost scans.
    await counters.rebuild(sql);
    await webhooks.apply(sql, await readRange(sql, 0, 1_000), new Date());
    await loseTail(sql, kept);
    await scan(sql, 2, code);
    const counting = runCounters(common);
    await eventually(async () => expect(await floorOfLog(sql)).toBeGreaterThan(0));
    expect(await webhooks.checkpoint(sql), 'webhooks continue after the last position that was kept').toBe(kept);
    await counting.stop();
  });

  test('and the stream is lost as well, a projection that is ahead of the log detects the loss', async () => {
    const { sql, common } = await stream.fresh();
    const code = await createCode(sql);
    await scan(sql, 5, code);
    const kept = await headOfLog(sql);
    await scan(sql, 5, code);
    await counters.rebuild(sql);
    await loseTail(sql, kept);
    const counting = runCounters(common);
    await eventually(async () => expect(await countsOf(sql, code)).toEqual([10, 10]));
    expect(await lostTails(common)).toBe(1);
    await counting.stop();
  });
});
