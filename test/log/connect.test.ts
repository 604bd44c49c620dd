import { describe, expect, test } from 'vitest';
import { startProxy } from '../../bench/chaos/proxy.ts';
import { messageOf } from '../../src/lib/errors.ts';
import type { Queryable } from '../../src/lib/sql.ts';
import { timeouts } from '../../src/lib/timeouts.ts';
import { append } from '../../src/log/append.ts';
import { connect, isPostgresUnavailable, violates } from '../../src/log/connect.ts';
import { readStream } from '../../src/log/read.ts';
import { useDatabase } from '../support/database.ts';
import { opened } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';

const database = useDatabase();
const by = { actor: 'operator', now: new Date() };

const failureOf = (promise: PromiseLike<unknown>) =>
  Promise.resolve(promise).then(
    () => undefined,
    (error: unknown) => error,
  );

describe('every connection', () => {
  test('has timeouts for idle transactions and for statements', async () => {
    const settings = await database.sql`
      SELECT name, setting FROM pg_settings
      WHERE name IN ('idle_in_transaction_session_timeout', 'statement_timeout', 'TimeZone') ORDER BY lower(name)`;
    expect(settings.map(({ setting }) => setting)).toEqual(['10000', String(timeouts.postgresStatementMs), 'UTC']);
  });

  test('waits for the disk at each commit, unless what it stores is done again after a crash', async () => {
    const repeated = connect(database.url, { max: 1, losesLastCommits: true });
    const waits = async (sql: Queryable) => (await sql`SHOW synchronous_commit`)[0]?.['synchronous_commit'];
    expect([await waits(database.sql), await waits(repeated)]).toEqual(['on', 'off']);
    await repeated.end();
  });

  test('a client that stops responding loses the append lock and its uncommitted events', async () => {
    const silent = connect(database.url, { max: 1 });
    const lost = opened();
    const held = silent
      .begin(async (tx) => {
        // Shorter than the default, to keep the test short.
        await tx`SET LOCAL idle_in_transaction_session_timeout = 200`;
        await append(tx, [lost], by);
        await new Promise(() => {});
      })
      .catch(() => {});
    const next = opened();
    await database.sql.begin((tx) => append(tx, [next], by));

    expect(await readStream(database.sql, next.stream)).toHaveLength(1);
    expect(await readStream(database.sql, lost.stream)).toEqual([]);
    await Promise.race([held, silent.end({ timeout: 0 })]);
  });
});

describe('a transaction', () => {
  test('ends after three times the response timeout, whatever its client does, and loses the append lock', async () => {
    await database.sql`SELECT 'tells the process which version the server has'`;
    const busy = connect(database.url, { max: 1, responseTimeoutMs: 500 });
    const lost = opened();
    const ended = await failureOf(
      busy.begin(async (tx) => {
        await append(tx, [lost], by);
        for (;;) await tx`SELECT 1`;
      }),
    );
    expect(ended).toBeDefined();
    const next = opened();
    await database.sql.begin((tx) => append(tx, [next], by));
    expect(await readStream(database.sql, next.stream)).toHaveLength(1);
    expect(await readStream(database.sql, lost.stream)).toEqual([]);
    await busy.end({ timeout: 1 });
  });

  test('of maintenance may last', async () => {
    const maintenance = connect(database.url, { max: 1, responseTimeoutMs: 'none' });
    expect([...(await maintenance`SHOW transaction_timeout`)]).toEqual([{ transaction_timeout: '0' }]);
    await maintenance.end();
  });
});

describe('a connection that stops answering', () => {
  test.each([
    ['at once', 0],
    ['after a while without queries, longer than its timeout', 1.2],
  ])('%s is closed: its queries fail, and the pool opens another', async (_, idleSeconds) => {
    const proxy = await startProxy(database.url);
    const sql = connect(proxy.url, { max: 1, responseTimeoutMs: 1_000 });
    await sql`SELECT 1`;
    await database.sql`SELECT pg_sleep(${idleSeconds})`;
    proxy.stall();
    const failure = await failureOf(sql`SELECT 2`);
    expect(isPostgresUnavailable(failure)).toBe(true);
    expect(messageOf(failure)).toContain('Postgres did not answer within 1 s');
    await proxy.restore();
    expect([...(await eventually(() => sql`SELECT 4 AS n`))]).toEqual([{ n: 4 }]);
    await sql.end({ timeout: 1 });
    await proxy.close();
  });

  test('stays open while no query waits for it', async () => {
    const sql = connect(database.url, { max: 2, responseTimeoutMs: 1_000 });
    const pidOf = async (on: Queryable) => (await on`SELECT pg_backend_pid() AS pid`)[0];
    const idle = Promise.withResolvers<void>();
    const inTransaction = sql.begin(async (tx) => {
      const before = await pidOf(tx);
      await idle.promise;
      return [before, await pidOf(tx)];
    });
    const before = await pidOf(sql);
    await database.sql`SELECT pg_sleep(1.2)`;
    expect(await pidOf(sql)).toEqual(before);
    idle.resolve();
    const [first, last] = await inTransaction;
    expect(last).toEqual(first);
    await sql.end({ timeout: 1 });
  });

  test('stays open when the response timeout is off', async () => {
    const sql = connect(database.url, { max: 1, responseTimeoutMs: 'none' });
    expect([...(await sql`SELECT pg_sleep(0.3)::text AS slept`)]).toEqual([{ slept: '' }]);
    await sql.end({ timeout: 1 });
  });
});

describe('transactions whose connection is lost', () => {
  test('fail, do not affect other transactions, and leave the pool usable', async () => {
    const proxy = await startProxy(database.url);
    const sql = connect(proxy.url, { max: 3 });
    const begun = { querying: 0, idle: 0 };
    for (let round = 1; round <= 3; round++) {
      const querying = sql.begin(async (tx) => {
        await tx`SELECT 1`;
        begun.querying++;
        await tx`SELECT pg_sleep(60)`;
      });
      let goOn = () => {};
      const idle = sql.begin(async (tx) => {
        await tx`SELECT 1`;
        begun.idle++;
        await new Promise<void>((resolve) => {
          goOn = resolve;
        });
        await tx`SELECT 2`;
      });
      const outcomes = [failureOf(querying), failureOf(idle)];
      await eventually(() => expect(begun).toEqual({ querying: round, idle: round }));
      await proxy.cut();
      expect((await Promise.all(outcomes)).map(isPostgresUnavailable)).toEqual([true, true]);
      // The idle transaction continues without a connection: an uncaught error in a timer would fail this file.
      goOn();
      await proxy.restore();
      await eventually(async () => {
        const responses = await Promise.all([1, 2, 3].map((n) => sql.begin((tx) => tx`SELECT ${n}::int AS n`)));
        expect(responses.map(([row]) => row?.['n'])).toEqual([1, 2, 3]);
      });
    }
    await sql.end({ timeout: 1 });
    await proxy.close();
  });
});

test('a transaction whose callback throws a connection error is rolled back and releases its locks', async () => {
  const reset = Object.assign(new Error('another connection was reset'), { code: 'ECONNRESET' });
  const failure = await failureOf(
    database.sql.begin(async (tx) => {
      await tx`SELECT pg_advisory_xact_lock(4711)`;
      throw reset;
    }),
  );
  expect(failure).toBe(reset);
  const [lock] = await database.sql`SELECT pg_try_advisory_lock(4711) AS free`;
  expect(lock).toEqual({ free: true });
});

describe('transactions that the server terminates', () => {
  test('fail, do not affect other transactions, and leave the pool usable', async () => {
    const sql = connect(database.url, { max: 2, name: 'to be ended' });
    for (let round = 1; round <= 5; round++) {
      let begun = 0;
      let goOn = () => {};
      const querying = sql.begin(async (tx) => {
        await tx`SELECT 1`;
        begun++;
        await tx`SELECT pg_sleep(60)`;
      });
      const idle = sql.begin(async (tx) => {
        await tx`SELECT 1`;
        begun++;
        await new Promise<void>((resolve) => {
          goOn = resolve;
        });
        await tx`SELECT 2`;
      });
      const outcomes = [failureOf(querying), failureOf(idle)];
      await eventually(() => expect(begun).toBe(2));
      await database.sql`
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'to be ended' AND datname = current_database()`;
      expect((await Promise.all(outcomes)).map(isPostgresUnavailable)).toEqual([true, true]);
      goOn();
      await eventually(async () => {
        const responses = await Promise.all([1, 2].map((n) => sql.begin((tx) => tx`SELECT ${n}::int AS n`)));
        expect(responses.map(([row]) => row?.['n'])).toEqual([1, 2]);
      });
    }
    await sql.end({ timeout: 1 });
  });
});

describe('values', () => {
  test('bigints are returned as plain numbers', async () => {
    const [row] = await database.sql`SELECT ${2 ** 52}::bigint AS position, count(*) FROM generate_series(1, 3)`;
    expect(row).toEqual({ position: 2 ** 52, count: 3 });
  });

  test('text arrays are returned unchanged, with any characters', async () => {
    const texts = [
      'plain',
      '',
      'NULL',
      'a,b',
      '{c}',
      'say "hi"',
      'back\\slash',
      '\\"',
      'line\nbreak',
      ' ',
      'Café 楽 🍋',
    ];
    const [row] = await database.sql`SELECT ${texts}::text[] AS texts, ${[] as string[]}::text[] AS none`;
    expect(row).toEqual({ texts, none: [] });
  });

  test('a text array can be used with ANY', async () => {
    const found = await database.sql`SELECT 1 AS found WHERE 'b"' = ANY(${['a', 'b"']})`;
    expect(found).toHaveLength(1);
  });
});

describe('errors of the database', () => {
  test('a refused connection counts as unavailable', async () => {
    const nowhere = connect('postgres://scanlog@127.0.0.1:1/none', { max: 1 });
    expect(isPostgresUnavailable(await failureOf(nowhere`SELECT 1`))).toBe(true);
    await nowhere.end({ timeout: 0 });
  });

  test.each([
    ['a terminated connection', 'SELECT pg_terminate_backend(pg_backend_pid())'],
    ['a statement timeout', 'SET statement_timeout = 20; SELECT pg_sleep(5)'],
  ])('%s counts as unavailable', async (_, statement) => {
    const sql = connect(database.url, { max: 1 });
    expect(isPostgresUnavailable(await failureOf(sql.unsafe(statement)))).toBe(true);
    await sql.end({ timeout: 0 });
  });

  test.each([
    ['a wrong query', 'SELECT nonsense'],
    ['a missing table', 'SELECT * FROM nowhere'],
    ['an invalid value', "SELECT 'x'::int"],
  ])('%s does not count as unavailable', async (_, statement) => {
    expect(isPostgresUnavailable(await failureOf(database.sql.unsafe(statement)))).toBe(false);
  });

  test('a unique violation is identified by its constraint', async () => {
    const event = opened();
    const insert = () => database.sql`
      INSERT INTO accounts (id, name, plan, created_at, version) VALUES (${event.stream}, 'x', 'free', now(), 1)`;
    await insert();
    const error = await failureOf(insert());
    expect(violates(error, 'accounts_pkey')).toBe(true);
    expect(violates(error, 'codes_short_code')).toBe(false);
    expect(violates(new Error('other'), 'accounts_pkey')).toBe(false);
  });
});
