import type { NatsConnection } from 'nats';
import { describe, expect, test } from 'vitest';
import { createAccount, suspend } from '../../src/accounts/accounts.ts';
import { type Caller, isAdmittedAsLong } from '../../src/accounts/admission.ts';
import { rotate } from '../../src/accounts/keys.ts';
import { createCodes } from '../../src/codes/create.ts';
import { loadCursors } from '../../src/feed/cursor.ts';
import { Filter } from '../../src/feed/filter.ts';
import { Tail } from '../../src/feed/tail.ts';
import { newId } from '../../src/lib/ids.ts';
import { createLogger } from '../../src/lib/logger.ts';
import type { Sql } from '../../src/lib/sql.ts';
import { appendScans, batchOf } from '../../src/log/append-scans.ts';
import { headOfLog, readRange } from '../../src/log/read.ts';
import { cut } from '../../src/stream/messages.ts';
import { useDatabase } from '../support/database.ts';
import { eventually, reaches } from '../support/eventually.ts';
import { idleFeed } from '../support/feed.ts';
import { scanned } from '../support/scans.ts';
import { testBox } from '../support/secret-box.ts';

const database = useDatabase();

/** Holds every read of the end of the log until the test lets it go on. */
function heldHeads(sql: Sql): { gated: Sql; gates: PromiseWithResolvers<void>[] } {
  const gates: PromiseWithResolvers<void>[] = [];
  const gated = new Proxy(sql, {
    apply(target, self, args: Parameters<Sql>) {
      const [text] = args as unknown as [readonly string[]];
      if (!Array.isArray(text) || !text[0]?.includes('SELECT greatest(')) return Reflect.apply(target, self, args);
      const gate = Promise.withResolvers<void>();
      gates.push(gate);
      return gate.promise.then(() => Reflect.apply(target, self, args));
    },
  });
  return { gated, gates };
}

type OnMessage = (error: null, message: { data: Uint8Array }) => void;

test('a reader that joins while the last one leaves during a read gets every event once', async () => {
  const { sql } = database;
  const by = { actor: 'operator', now: new Date() };
  const { id: account } = await createAccount(sql, { name: 'Test', plan: 'enterprise', now: by.now });
  const owner = { account, mode: 'live' as const };
  const request = { name: 'Menu', destination_url: 'https://example.com' };
  const [created] = await sql.begin((tx) => createCodes(tx, testBox, owner, [request], by));
  const scan = () => scanned({ code: created?.code.id ?? '', ...owner });
  const append = () => appendScans(sql, batchOf(newId('batch', Date.now()), 1, [scan()]));
  const cursors = await loadCursors(sql);
  const { gated, gates } = heldHeads(sql);
  const subscriptions: OnMessage[] = [];
  const nats = {
    subscribe(_: string, { callback }: { callback: OnMessage }) {
      subscriptions.push(callback);
      return { unsubscribe() {} };
    },
  } as unknown as NatsConnection;
  const log = createLogger('silent', false);
  const tail = new Tail({ sql: gated, cursors: async () => cursors, stream: () => ({ nats, name: 's' }), log });
  const reader = () => ({ position: 0, key: 'key', user: undefined, session: undefined, wake() {}, ended: undefined });

  const first = reader();
  const left = tail.join(owner, first);
  await reaches(1, () => gates.length);
  tail.leave(left, first);
  const second = reader();
  const channel = tail.join(owner, second);
  await reaches(2, () => gates.length);
  gates[1]?.resolve();
  // The second read knows the end of the log, and reads on from there; only now the first one ends.
  await reaches(3, () => gates.length);
  const head = await headOfLog(sql);
  gates[0]?.resolve();
  await append();
  // The event arrives from NATS while the read that will find it, too, is under way.
  for (const { data } of cut(await readRange(sql, head, 100)))
    subscriptions.at(-1)?.(null, { data: new TextEncoder().encode(data) });
  await append();
  gates[2]?.resolve();
  const positions = await eventually(() => {
    for (const gate of gates) gate.resolve();
    const found = channel.after(head, 100, 1_000_000)?.frames.map(({ position }) => position);
    expect(found?.at(-1)).toBe(head + 2);
    return found;
  });
  tail.leave(channel, second);
  expect(positions).toEqual([head + 1, head + 2]);
});

describe('a reader reads nothing of what follows, if before the tail has started', () => {
  test.each([
    ['its account is suspended', (sql: Sql, { account }: Caller, now: Date) => suspend(sql, account, 'Unpaid.', now)],
    [
      'its key is rotated, though that is valid for another day',
      (sql: Sql, { account, key }: Caller, now: Date) =>
        rotate(sql, account, key as string, { overlapHours: 24 }, { actor: 'operator', now }),
    ],
  ])('%s', async (_, change) => {
    const { sql } = database;
    const by = { actor: 'operator' as const, now: new Date() };
    const { id: account, live } = await createAccount(sql, { name: 'Test', plan: 'enterprise', now: by.now });
    const owner = { account, mode: 'live' as const };
    const key = { key: live.id, scopes: null, expires_at: null, allowed_cidrs: null };
    const caller: Caller = { ...owner, ...key, plan: 'enterprise', actor: live.id, role: 'owner' };
    const isAllowed = () => isAdmittedAsLong(sql, caller, by.now);
    expect(await isAllowed()).toBe(true);
    const { gated, gates } = heldHeads(sql);
    const page = idleFeed(gated).wait(caller, {
      after: await headOfLog(sql),
      filter: new Filter({ types: ['code.created'] }),
      limit: 10,
      waitMs: 3_600_000,
      signal: new AbortController().signal,
      isAllowed,
    });
    // Tail and reader are about to read the end of the log.
    await reaches(2, () => gates.length);
    await change(sql, caller, by.now);
    const request = { name: 'Menu', destination_url: 'https://example.com' };
    await sql.begin((tx) => createCodes(tx, testBox, owner, [request], by));
    for (const gate of gates) gate.resolve();
    expect((await page).events).toEqual([]);
  });
});

test('a stream sends what it had read when Postgres did not say whether the key may read on', async () => {
  const { sql } = database;
  const by = { actor: 'operator', now: new Date() };
  const { id: account } = await createAccount(sql, { name: 'Test', plan: 'enterprise', now: by.now });
  const owner = { account, mode: 'live' as const };
  const after = await headOfLog(sql);
  const request = { name: 'Menu', destination_url: 'https://example.com' };
  await sql.begin((tx) => createCodes(tx, testBox, owner, [request], by));
  const stopping = new AbortController();
  let checks = 0;
  const pieces = await idleFeed(sql).stream(
    { ...owner, key: 'key' },
    {
      after,
      filter: new Filter({}),
      signal: stopping.signal,
      isAllowed: async () => {
        if (checks++ === 0) throw Object.assign(new Error('cut'), { code: 'CONNECTION_CLOSED' });
        return true;
      },
    },
  );
  let text = '';
  for await (const piece of pieces) {
    text += new TextDecoder().decode(piece);
    if (text.includes('Menu')) stopping.abort();
  }
  expect(checks).toBeGreaterThan(1);
  expect(text, 'the event of the code').toContain('Menu');
});
