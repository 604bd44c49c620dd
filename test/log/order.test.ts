import { describe, expect, test } from 'vitest';
import type { AccountEvent } from '../../events/account.ts';
import type { NewEvent } from '../../events/recorded.ts';
import { newId } from '../../src/lib/ids.ts';
import { append } from '../../src/log/append.ts';
import { readEvents } from '../../src/log/read.ts';
import { useDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';

const database = useDatabase();
const by = { actor: 'operator', now: new Date() };

const opened = (stream = newId('acct', Date.now()), version = 1): NewEvent<AccountEvent> => ({
  stream,
  version,
  event: { type: 'account_created', data: { name: 'Test', plan: 'free' } },
});

/** Polls the log from its start, as a projection does, until `isEnough`. */
async function follow(isEnough: (seen: number[]) => boolean): Promise<number[]> {
  const seen: number[] = [];
  while (!isEnough(seen)) {
    const events = await readEvents(database.sql, seen.at(-1) ?? 0, 100);
    seen.push(...events.map(({ position }) => position));
  }
  return seen;
}

describe('the total order of the log', () => {
  test('a reader does not skip an event whose transaction commits late', async () => {
    const { sql } = database;
    const before = (await readEvents(sql, 0, 100_000)).at(-1)?.position ?? 0;
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let drawn = () => {};
    const hasDrawn = new Promise<void>((resolve) => {
      drawn = resolve;
    });

    const slow = sql.begin(async (tx) => {
      const [event] = await append(tx, [opened()], by);
      drawn();
      await held;
      return event?.position as number;
    });
    await hasDrawn;
    const quick = sql.begin(async (tx) => (await append(tx, [opened()], by))[0]?.position as number);
    await eventually(async () => {
      // Other test files wait for locks on the same server.
      const [waiting] = await sql`
        SELECT 1 FROM pg_locks JOIN pg_database d ON d.oid = database
        WHERE locktype = 'advisory' AND NOT granted AND datname = current_database()`;
      expect(waiting, 'the second append waits for the first').toBeDefined();
    });
    expect(await readEvents(sql, before, 10), 'nothing is visible before the commit').toEqual([]);
    release();

    const [first, second] = await Promise.all([slow, quick]);
    expect(first).toBeLessThan(second);
    expect((await readEvents(sql, before, 10)).map(({ position }) => position)).toEqual([first, second]);
  });

  test('a polling reader sees every event of 8 writers with 100 appends each, in ascending order', async () => {
    const { sql } = database;
    const written: number[] = [];
    const start = (await readEvents(sql, 0, 100_000)).length;
    const writers = Array.from({ length: 8 }, async () => {
      for (let i = 0; i < 100; i++) {
        const [event] = await sql.begin((tx) => append(tx, [opened()], by));
        written.push(event?.position as number);
      }
    });
    const reader = follow((seen) => seen.length >= start + 800);
    await Promise.all(writers);
    const seen = await reader;

    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(seen.slice(start)).toEqual([...written].sort((a, b) => a - b));
  });

  test('a rolled back append leaves a gap and blocks no other append', async () => {
    const { sql } = database;
    const before = (await readEvents(sql, 0, 100_000)).at(-1)?.position ?? 0;
    let lost = 0;
    const abandoned = sql.begin(async (tx) => {
      lost = (await append(tx, [opened()], by))[0]?.position as number;
      throw new Error('rolled back');
    });
    await expect(abandoned).rejects.toThrow('rolled back');

    const [next] = await sql.begin((tx) => append(tx, [opened()], by));
    expect(next?.position).toBeGreaterThan(lost);
    expect((await readEvents(sql, before, 10)).map(({ position }) => position)).toEqual([next?.position]);
  });

  test('1,000 events of one append keep their order', async () => {
    const events = Array.from({ length: 1_000 }, () => opened());
    const recorded = await database.sql.begin((tx) => append(tx, events, by));
    const positions = recorded.map(({ position }) => position);
    expect(positions).toEqual([...positions].sort((a, b) => a - b));
    expect(recorded.map(({ stream }) => stream)).toEqual(events.map(({ stream }) => stream));
  });
});
