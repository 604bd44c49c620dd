import { beforeAll, describe, expect, test } from 'vitest';
import { startProxy } from '../../bench/chaos/proxy.ts';
import { counters } from '../../projections/counters.ts';
import { createAccount } from '../../src/accounts/accounts.ts';
import { deleteAccount } from '../../src/accounts/delete.ts';
import { change } from '../../src/codes/change.ts';
import { createCodes } from '../../src/codes/create.ts';
import { type RevertedCode, type RevertRequest, revert } from '../../src/codes/revert.ts';
import { appendLockHolds, RecentMaximum } from '../../src/lib/append-lock-holds.ts';
import { newId } from '../../src/lib/ids.ts';
import { append, appendAndCommit, prepare } from '../../src/log/append.ts';
import { appendScans, batchOf } from '../../src/log/append-scans.ts';
import { connect } from '../../src/log/connect.ts';
import { locks } from '../../src/log/locks.ts';
import { eraseNext } from '../../src/maintenance/erasure.ts';
import { replayState } from '../../src/maintenance/replay-state.ts';
import { abandonTail } from '../../src/stream/lost-tail.ts';
import { useDatabase } from '../support/database.ts';
import { opened } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { scanned } from '../support/scans.ts';
import { testBox } from '../support/secret-box.ts';

const database = useDatabase();
const now = new Date();
const by = { actor: 'key_1', now };

const scan = () => appendScans(database.sql, batchOf(newId('batch', Date.now()), 1, [scanned()]));

async function newOwner(): Promise<{ account: string; mode: 'test' }> {
  const { id: account } = await createAccount(database.sql, { name: 'Test', plan: 'free', now });
  return { account, mode: 'test' };
}

const create = (owner: { account: string; mode: 'test' }, count: number) => {
  const requests = Array.from({ length: count }, (_, i) => ({ name: `${i}`, destination_url: 'https://example.com' }));
  return database.sql.begin((tx) => createCodes(tx, testBox, owner, requests, by));
};

const undoing = (request: Partial<RevertRequest> = {}): RevertRequest => ({
  actor: by.actor,
  from: new Date(now.getTime() - 1_000),
  to: new Date(now.getTime() + 1_000),
  isDryRun: false,
  signal: new AbortController().signal,
  ownUrls: [],
  onRecorded: async () => {},
  ...request,
});

/** The codes that a revert changes. */
async function reverted(
  owner: Parameters<typeof revert>[1],
  request: RevertRequest,
  by: Parameters<typeof revert>[3],
): Promise<RevertedCode[]> {
  const changed: RevertedCode[] = [];
  const onReverted = (codes: RevertedCode[]) => {
    changed.push(...codes.filter(({ events }) => events.length > 0));
    return true;
  };
  await revert(database.sql, owner, { ...request, onReverted }, by);
  return changed;
}

/** Runs `operation` while `lock` holds what it will write or read, and calls `meanwhile` when it waits for that. */
async function whileLocked(
  lock: string,
  operation: () => Promise<unknown>,
  meanwhile: () => Promise<unknown>,
): Promise<void> {
  const { sql } = database;
  let running: Promise<unknown> = Promise.resolve();
  await sql.begin(async (tx) => {
    await tx`SET LOCAL idle_in_transaction_session_timeout = 0`;
    await tx.unsafe(lock);
    running = operation();
    running.catch(() => {});
    await eventually(async () => {
      const waiting = await sql`
        SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      expect(waiting, 'the operation waits').toHaveLength(1);
    });
    await meanwhile();
  });
  await running;
}

describe('other appends go on while the rows are written for', () => {
  test.each<[string, string, () => Promise<() => Promise<unknown>>]>([
    ['a create', 'visitor_keys', async () => create.bind(null, await newOwner(), 2)],
    [
      'a change',
      'code_counts',
      async () => {
        const owner = await newOwner();
        const [made] = await create(owner, 1);
        return () => change(database.sql, owner, made?.code.id ?? '', { active: false }, by);
      },
    ],
    [
      'a new limit',
      'checkpoints',
      async () => {
        const owner = await newOwner();
        const [made] = await create(owner, 1);
        // The lost tail of another test leaves them invalid.
        await counters.rebuild(database.sql);
        return () => change(database.sql, owner, made?.code.id ?? '', { max_scans: 5 }, by);
      },
    ],
    [
      'a revert',
      'code_counts',
      async () => {
        const owner = await newOwner();
        await create(owner, 2);
        return () => revert(database.sql, owner, undoing(), { actor: 'key_2', now });
      },
    ],
    [
      'the deletion of an account',
      'erasures',
      async () => {
        const { account } = await newOwner();
        return () => deleteAccount(database.sql, account, now);
      },
    ],
    [
      'the erasure of an account',
      'code_counts',
      async () => {
        const owner = await newOwner();
        await create(owner, 2);
        await deleteAccount(database.sql, owner.account, now);
        return () => eraseNext(database.sql, owner.account, now);
      },
    ],
    [
      'a lost tail',
      'warehouse_tables',
      async () => () => abandonTail(database.sql, { agreedTo: 0, lostTo: 0, reported: [] }),
    ],
  ])('%s', async (_, table, given) => {
    const operation = await given();
    await whileLocked(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`, operation, scan);
  });
});

test('other appends go on while a replay of the state waits to correct a row', async () => {
  const { account } = await newOwner();
  // Other tests of this file append events alone.
  await replayState(database.sql);
  await database.sql`UPDATE accounts SET name = 'wrong' WHERE id = ${account}`;
  await whileLocked(
    `SELECT FROM accounts WHERE id = '${account}' FOR UPDATE`,
    async () => expect(await replayState(database.sql)).toMatchObject({ corrected: 1 }),
    scan,
  );
  expect(await database.sql`SELECT name FROM accounts WHERE id = ${account}`).toEqual([{ name: 'Test' }]);
});

describe('a revert of more codes than one transaction takes', () => {
  const count = 250;
  let owner: Awaited<ReturnType<typeof newOwner>>;

  beforeAll(async () => {
    owner = await newOwner();
    await create(owner, count);
  });

  test('of which nothing would be stored ends when its request is closed', async () => {
    const other = await newOwner();
    await create(other, 2);
    const closed = undoing({ isDryRun: true, signal: AbortSignal.abort() });
    await expect(revert(database.sql, other, closed, by)).rejects.toThrow('The request was closed.');
    expect(await reverted(other, undoing({ isDryRun: true }), by)).toHaveLength(2);
  });

  test('of which the response takes no more says how far it got', async () => {
    const other = await newOwner();
    await create(other, 120);
    const ended = revert(database.sql, other, undoing({ onReverted: () => false }), by);
    await expect(ended).rejects.toThrow('The revert ended after 50 of 120 QR codes, which stay reverted');
    expect(await reverted(other, undoing(), by)).toHaveLength(70);
  });

  test('says how far it got when it is interrupted, and the next one continues', async () => {
    const unreachable = Object.assign(new Error('closed'), { code: 'CONNECTION_CLOSED' });
    const interrupted = revert(database.sql, owner, undoing({ onRecorded: () => Promise.reject(unreachable) }), {
      actor: 'key_2',
      now,
    });
    await expect(interrupted).rejects.toThrow('The revert ended after 50 of 250 QR codes');
    expect(await statuses()).toEqual({ active: 200, paused: 50 });

    const closed = undoing({ signal: AbortSignal.abort() });
    expect(await reverted(owner, closed, { actor: 'key_2', now }), 'although its request is closed').toHaveLength(200);
    expect(await statuses()).toEqual({ active: 0, paused: 250 });
    const summaries = await database.sql`
      SELECT data ->> 'changed' AS changed FROM events
      WHERE stream = ${owner.account} AND type = 'account_reverted' ORDER BY version`;
    expect(summaries.map(({ changed }) => changed)).toEqual(['50', '200']);
  });

  const statuses = async () => {
    const rows = await database.sql<{ status: string; codes: number }[]>`
      SELECT status, codes FROM code_counts WHERE account = ${owner.account}`;
    return Object.fromEntries(rows.map(({ status, codes }) => [status, codes]));
  };
});

test('an append with a commit has released the lock when it resolves, and is measured', async () => {
  const { sql } = database;
  await sql.begin(async (tx) => {
    await appendAndCommit(tx, prepare([opened()], by));
    await sql.begin((other) => append(other, [opened()], by));
  });
  expect(appendLockHolds.value).toBeGreaterThan(0);
});

test.each([1, 1_000])('an append of %i events needs nothing more of this process to be committed', async (count) => {
  const { sql, url } = database;
  const proxy = await startProxy(url);
  const proxied = connect(proxy.url, { max: 1 });
  const events = prepare(
    Array.from({ length: count }, () => opened()),
    by,
  );
  try {
    let appended: Promise<unknown> = Promise.resolve();
    await whileLocked(
      `SELECT pg_advisory_xact_lock(${locks.append})`,
      () => {
        appended = proxied.begin((tx) => appendAndCommit(tx, events));
        appended.catch(() => {});
        return Promise.resolve();
      },
      async () => proxy.stall(),
    );
    await eventually(async () => {
      const streams = events.map(({ stream }) => stream);
      expect(await sql`SELECT 1 FROM events WHERE stream = ANY(${streams})`).toHaveLength(count);
    });
    await proxy.restore();
    expect(await appended).toHaveLength(count);
  } finally {
    await proxied.end({ timeout: 0 });
    await proxy.close();
  }
});

test('an event that does not match its schema is refused before the transaction commits', async () => {
  const { sql } = database;
  const { stream, version } = opened();
  const event = { type: 'plan_changed', data: { from: 'free', to: 'gold' } } as never;
  const refused = sql.begin(async (tx) => {
    await tx`INSERT INTO blocked_hosts VALUES ('not-stored.example', now())`;
    await appendAndCommit(tx, prepare([{ stream, version, event }], by));
  });
  await expect(refused).rejects.toThrow('does not match its schema');
  expect(await sql`SELECT 1 FROM blocked_hosts WHERE host = 'not-stored.example'`).toHaveLength(0);
});

test('the recent maximum forgets a value after one to two minutes', () => {
  let nowMs = 30_000;
  const maximum = new RecentMaximum(() => nowMs);
  maximum.observe(3);
  maximum.observe(2);
  nowMs = 119_000;
  expect(maximum.value).toBe(3);
  maximum.observe(1);
  nowMs = 120_000;
  expect(maximum.value).toBe(1);
  nowMs = 300_000;
  expect(maximum.value).toBe(0);
});
