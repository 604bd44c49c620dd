import type { JSONValue } from 'postgres';
import { describe, expect, test } from 'vitest';
import type { DomainEvent } from '../../events/catalogue.ts';
import { evolveCode } from '../../events/code.ts';
import type { Recorded } from '../../events/recorded.ts';
import { applyState } from '../../projections/state.ts';
import { findCode } from '../../src/codes/codes.ts';
import { newId } from '../../src/lib/ids.ts';
import { append } from '../../src/log/append.ts';
import { appendScans, batchOf } from '../../src/log/append-scans.ts';
import { headOfLog, readEvents, readRange, readStream } from '../../src/log/read.ts';
import { useDatabase } from '../support/database.ts';
import { made, opened } from '../support/events.ts';
import { scanned } from '../support/scans.ts';

const database = useDatabase();
const now = new Date('2026-03-01T09:30:00.000Z');
const by = { actor: 'operator', now };

/** Inserts an event as an earlier or later version of the service would have stored it. */
async function store(type: string, schema: number, data: JSONValue): Promise<string> {
  const stream = newId('qr', Date.now());
  await database.sql`
    INSERT INTO events (position, id, stream, version, type, schema, data, actor, occurred_at)
    VALUES (nextval('log_position'), ${newId('evt', Date.now())}, ${stream}, 1, ${type}, ${schema},
      ${database.sql.json(data)}, 'operator', ${now})`;
  return stream;
}

const beforeDrafts = {
  account: 'acct_1',
  mode: 'live',
  name: 'Menu',
  destination_url: 'https://example.com/menu',
  short_code: 'before-drafts',
  style: {},
};

/** Inserts an event with 400 kB, and returns its position. */
async function storeLarge(): Promise<number> {
  const { sql } = database;
  const stream = newId('qr', Date.now());
  const [{ position }] = await sql<[{ position: number }]>`
    INSERT INTO events (position, id, stream, version, type, schema, data, actor, occurred_at)
    VALUES (nextval('log_position'), ${newId('evt', Date.now())}, ${stream}, 2, 'code_renamed', 1,
      jsonb_build_object('from', 'menu', 'to', repeat('x', 400000)), 'operator', ${now})
    RETURNING position`;
  return position;
}

describe('reading the log', () => {
  test('returns every entry once, in order, across positions that are not in use', async () => {
    const { sql } = database;
    const start = await headOfLog(sql);
    const expected: number[] = [];
    for (const unused of [0, 1, 7, 8, 9, 40]) {
      await sql`SELECT setval('log_position', last_value + ${unused}) FROM log_position`;
      const batch = batchOf(newId('batch', Date.now()), 1, [scanned({}), scanned({})]);
      await appendScans(sql, batch);
      const [change] = await sql.begin((tx) => append(tx, [opened()], by));
      const position = change?.position ?? 0;
      expected.push(position - 2, position - 1, position);
    }
    const found: number[] = [];
    for (let after = start; ; ) {
      const { to, entries } = await readRange(sql, after, 2);
      if (entries.length === 0) break;
      found.push(...entries.map(({ position }) => position));
      after = to;
    }
    expect(found).toEqual(expected);
  });

  test('takes no more than some MB at once, however many entries are asked for', async () => {
    const { sql } = database;
    const start = await headOfLog(sql);
    const expected: number[] = [];
    for (let i = 0; i < 30; i++) {
      expected.push(await storeLarge());
      await appendScans(sql, batchOf(newId('batch', Date.now()), 1, [scanned({})]));
      expected.push(await headOfLog(sql));
    }
    const bytesOf = (entries: { data?: unknown }[]) =>
      entries.reduce((sum, { data }) => sum + (data === undefined ? 0 : JSON.stringify(data).length), 0);

    const ofRanges: number[] = [];
    for (let after = start, isCut = true; isCut; ) {
      const range = await readRange(sql, after, 5_000);
      expect(bytesOf(range.entries as { data?: unknown }[])).toBeLessThan(5_000_000);
      expect(range.entries.length).toBeGreaterThan(0);
      ofRanges.push(...range.entries.map(({ position }) => position));
      ({ to: after, isCut } = range);
    }
    expect(ofRanges, 'entries of both kinds, in order').toEqual(expected);

    const ofEvents: number[] = [];
    for (let after = start; ; ) {
      const events = await readEvents(sql, after, 1_000);
      expect(bytesOf(events)).toBeLessThan(5_000_000);
      if (events.length === 0) break;
      ofEvents.push(...events.map(({ position }) => position));
      after = events.at(-1)?.position ?? after;
    }
    expect(ofEvents).toEqual(expected.filter((_, i) => i % 2 === 0));
  });

  test('returns a stream from its beginning, or after a position', async () => {
    const event = opened();
    const upgraded = {
      ...event,
      version: 2,
      event: { type: 'plan_changed', data: { from: 'free', to: 'pro' } },
    } as const;
    const [first, second] = await database.sql.begin((tx) => append(tx, [event, upgraded], by));
    expect(await readStream(database.sql, event.stream)).toEqual([first, second]);
    expect(await readStream(database.sql, event.stream, first?.position)).toEqual([second]);
    expect(await readStream(database.sql, event.stream, second?.position)).toEqual([]);
  });

  test('returns no events of a stream that does not exist', async () => {
    expect(await readStream(database.sql, 'qr_none')).toEqual([]);
  });

  test('returns the log in pieces without gaps or duplicates between them', async () => {
    const appended = await database.sql.begin((tx) =>
      append(
        tx,
        Array.from({ length: 25 }, () => opened()),
        by,
      ),
    );
    const before = (appended[0]?.position ?? 0) - 1;
    const pieces = [];
    for (let after = before; ; ) {
      const piece = await readEvents(database.sql, after, 10);
      if (piece.length === 0) break;
      pieces.push(...piece);
      after = piece.at(-1)?.position ?? after;
    }
    expect(pieces.filter(({ position }) => position <= (appended.at(-1)?.position ?? 0))).toEqual(appended);
  });
});

describe('an event of an older schema', () => {
  test('is returned in the current shape, and the row stays unchanged', async () => {
    const stream = await store('code_created', 1, beforeDrafts);
    const [event] = await readStream(database.sql, stream);
    expect(event).toMatchObject({ type: 'code_created', data: { ...beforeDrafts, status: 'active' } });
    const [row] = await database.sql`SELECT schema, data FROM events WHERE stream = ${stream}`;
    expect(row).toEqual({ schema: 1, data: beforeDrafts });
  });

  test('produces the same code as an event of the current schema', async () => {
    const stream = await store('code_created', 1, { ...beforeDrafts, short_code: 'old-code' });
    const events = await readStream(database.sql, stream);
    await database.sql.begin((tx) => applyState(tx, events));
    const code = await findCode(database.sql, { account: 'acct_1', mode: 'live' }, stream);
    const [first] = events;
    const { event } = made({ short_code: 'old-code' }, stream);
    expect(code).toMatchObject({
      ...evolveCode(undefined, { ...(first as Recorded<DomainEvent>), ...event }),
      short_code_given: null,
    });
    expect(code?.status).toBe('active');
  });
});

describe('an unknown event', () => {
  test.each([
    [
      'of a later schema',
      'code_created',
      99,
      beforeDrafts,
      'An event of type code_created (version 99, this process reads up to 9)',
    ],
    ['of a later type', 'code_framed', 1, {}, 'An event of the unknown type code_framed'],
  ])('%s makes the read fail instead of being skipped', async (_, type, schema, data, message) => {
    const stream = await store(type, schema, data);
    await expect(readStream(database.sql, stream)).rejects.toThrow(message);
  });
});
