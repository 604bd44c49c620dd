import { describe, expect, test } from 'vitest';
import type { DomainEvent } from '../../events/catalogue.ts';
import type { NewEvent } from '../../events/recorded.ts';
import { newId } from '../../src/lib/ids.ts';
import type { Transaction } from '../../src/lib/sql.ts';
import { append, UnprovenEvents } from '../../src/log/append.ts';
import { readStream } from '../../src/log/read.ts';
import { VersionTaken } from '../../src/log/version-taken.ts';
import { useDatabase } from '../support/database.ts';
import { made, opened } from '../support/events.ts';
import { atOnce } from '../support/http.ts';

const database = useDatabase();
const now = new Date('2026-03-01T09:30:00.123Z');
const by = { actor: 'key_1', now };

const add = (...events: NewEvent<DomainEvent>[]) => database.sql.begin((tx) => append(tx, events, by));
const paused = (stream: string, version: number): NewEvent<DomainEvent> => ({
  stream,
  version,
  event: { type: 'code_paused', data: {} },
});

describe('an append', () => {
  test('is read back with its position, time and actor', async () => {
    const first = made({ name: 'Café 楽 🍋 "\\', style: { dotsColor: '#1a2B3c' } });
    const appended = await add(first, paused(first.stream, 2));

    expect(await readStream(database.sql, first.stream)).toEqual(appended);
    expect(appended).toMatchObject([
      { ...first.event, stream: first.stream, version: 1, actor: 'key_1', occurred_at: now },
      { type: 'code_paused', stream: first.stream, version: 2, actor: 'key_1', occurred_at: now },
    ]);
    for (const { id, position } of appended) {
      expect(id).toMatch(/^evt_[0-9A-Za-z]{20,}$/);
      expect(position).toBeGreaterThan(0);
    }
  });

  test('of no events adds nothing', async () => {
    expect(await add()).toEqual([]);
  });

  test('of several events stores all or none', async () => {
    const [one, two] = [opened(), opened()];
    await add(two);
    await expect(add(one, two)).rejects.toBeInstanceOf(VersionTaken);
    expect(await readStream(database.sql, one.stream)).toEqual([]);
  });
});

describe('the expected version', () => {
  test('lets one of 20 concurrent writers append, and 19 get VersionTaken', async () => {
    const { stream, ...rest } = made();
    await add({ stream, ...rest });

    const results = await atOnce(20, () =>
      add(paused(stream, 2)).then(
        () => 'appended',
        (error) => (error instanceof VersionTaken ? 'version taken' : `failed: ${error}`),
      ),
    );

    expect(results.toSorted()).toEqual(['appended', ...Array.from({ length: 19 }, () => 'version taken')]);
    expect((await readStream(database.sql, stream)).map(({ version }) => version)).toEqual([1, 2]);
  });

  test('lets one of 20 concurrent writers start a stream', async () => {
    const stream = newId('acct', now.getTime());
    const results = await atOnce(20, () =>
      add(opened(stream)).then(
        () => true,
        () => false,
      ),
    );
    expect(results.filter(Boolean)).toHaveLength(1);
    expect(await readStream(database.sql, stream)).toHaveLength(1);
  });

  test('VersionTaken names the stream', async () => {
    const event = opened();
    await add(event);
    await expect(add(event)).rejects.toThrow(event.stream);
  });
});

describe('an event that does not match its schema', () => {
  test.each([
    ['a field is missing', { ...made().event, data: { name: 'Menu' } }],
    ['a field is unknown', { ...made().event, data: { ...made().event.data, ip: '203.0.113.7' } }],
    ['a value is not allowed', { type: 'plan_changed', data: { from: 'free', to: 'gold' } }],
    ['its type is unknown', { type: 'code_exploded', data: {} }],
  ])('is rejected, and nothing of the append is stored: %s', async (_, event) => {
    const right = opened();
    const wrong = { stream: newId('qr', now.getTime()), version: 1, event: event as DomainEvent };
    await expect(add(right, wrong)).rejects.toThrow(/does not match its schema|There is no event of type/);
    expect(await readStream(database.sql, right.stream)).toEqual([]);
    expect(await readStream(database.sql, wrong.stream)).toEqual([]);
  });
});

describe('the log is append-only', () => {
  test.each([
    ['changed', "UPDATE events SET actor = 'nobody'"],
    [
      'changed by an upsert',
      'INSERT INTO events SELECT * FROM events ON CONFLICT (position) DO UPDATE SET version = 0',
    ],
    ['deleted', 'DELETE FROM events'],
    ['deleted, even where no row matches', 'DELETE FROM events WHERE false'],
    ['truncated', 'TRUNCATE events'],
    ['truncated with CASCADE', 'TRUNCATE events CASCADE'],
    ['deleted by a MERGE', 'MERGE INTO events e USING events o ON e.position = o.position WHEN MATCHED THEN DELETE'],
  ])('an event cannot be %s', async (_, statement) => {
    const [event] = await add(opened());
    await expect(database.sql.unsafe(statement)).rejects.toThrow('the log is only ever appended to');
    expect(await readStream(database.sql, event?.stream as string)).toEqual([event]);
  });
});

test('a response without the position of each event fails the append', async () => {
  const event = opened();
  const answeringNothing = (tx: Transaction) =>
    new Proxy(tx, {
      get: (target, name) =>
        name === 'unsafe'
          ? (text: string) => ({ catch: () => target.unsafe(text).then(() => []) })
          : Reflect.get(target, name),
    });
  const appended = database.sql.begin((tx) => append(answeringNothing(tx), [event], by));
  await expect(appended).rejects.toThrow(UnprovenEvents);
  expect(await readStream(database.sql, event.stream)).toEqual([]);
});
