import postgres from 'postgres';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import {
  commandComplete,
  dataRow,
  type FakePostgres,
  fatalError,
  readyForQuery,
  startFakePostgres,
} from './fake-postgres.ts';

/** What `patches/` fixes in the `postgres` package, tested with a server that ends connections at exact moments. */

/** ECONNRESET if the query was written to the socket before the driver noticed the reset. */
const lost = { failed: expect.stringMatching(/^(CONNECTION_CLOSED|ECONNRESET)$/) };

let fake: FakePostgres;
const pools: postgres.Sql[] = [];
beforeEach(async () => {
  fake = await startFakePostgres();
});
afterEach(async () => {
  await Promise.all(pools.splice(0).map((sql) => sql.end({ timeout: 0 })));
  await fake.close();
});

function pool(options: postgres.Options<Record<string, never>> = {}): postgres.Sql {
  const sql = postgres(fake.url, {
    max: 1,
    fetch_types: false,
    connect_timeout: 60,
    backoff: () => 0.01,
    onnotice: () => {},
    ...options,
  });
  pools.push(sql);
  return sql;
}

type Outcome = { tags: string[] } | { failed: string };

/** How a query settled: its rows or its error code. Fails if it does not settle. */
async function outcomeOf(query: PromiseLike<unknown>): Promise<Outcome> {
  let outcome: Outcome | undefined;
  Promise.resolve(query).then(
    (rows) => {
      outcome = { tags: Array.isArray(rows) ? rows.map(({ tag }) => tag) : [] };
    },
    (error) => {
      outcome = { failed: error.code ?? error.message };
    },
  );
  return eventually(() => {
    if (outcome === undefined) throw new Error('the query has not settled');
    return outcome;
  });
}

/** Uses the extended protocol, as tagged templates do. */
const select = (sql: postgres.ISql, tag: string, padding = '') =>
  sql.unsafe(`select '${tag}'${padding}`, [], { simple: false } as postgres.UnsafeQueryOptions);

/** The response to a query, which is repeated while it is lost with a connection whose reset the driver has not noticed. */
const answerTo = (sql: postgres.Sql, tag: string): Promise<Outcome> =>
  eventually(async () => {
    const outcome = await outcomeOf(select(sql, tag));
    expect(outcome).not.toEqual(lost);
    return outcome;
  });

/** Runs `select 'doomed'`, waits until the server has received it, and calls `onFailure` as soon as it fails. */
async function doom(sql: postgres.Sql, onFailure: () => void): Promise<void> {
  fake.onExecute = (statement) => statement.includes('doomed');
  select(sql, 'doomed').catch(onFailure);
  await eventually(() => expect(fake.executed).toContain("select 'doomed'"));
  fake.onExecute = undefined;
}

/** Long enough for the driver to write the query immediately instead of from a timer. */
const padding = ' '.repeat(1_100);

describe('a query sent while its connection is being reset', () => {
  test('is not resolved by the greeting of the next connection', async () => {
    const sql = pool({ max: 2 });
    await Promise.all([select(sql, 'warm1'), select(sql, 'warm2')]);
    let busy: unknown;
    fake.onExecute = (statement, connection) => {
      if (!statement.includes('doomed')) return false;
      busy = connection;
      return true;
    };
    let insert: Promise<Outcome> | undefined;
    select(sql, 'doomed').catch(() => {
      insert = outcomeOf(sql.unsafe(`insert into t values (1)${padding}`));
    });
    await eventually(() => expect(busy).toBeDefined());
    fake.onExecute = undefined;
    // The idle connection is reset first, so that the insert goes to it before the driver notices the reset.
    fake.connections.sort((a, b) => Number(a === busy) - Number(b === busy));
    fake.resetAll();
    await eventually(() => expect(insert).toBeDefined());
    for (let i = 0; i < 4; i++) expect(await answerTo(sql, `later${i}`)).toEqual({ tags: [`later${i}`] });
    const isStored = fake.executed.includes('insert into t values (1)');
    expect(await insert).toEqual(isStored ? { tags: [] } : lost);
  });

  test.each([
    ['short, written from a timer', ''],
    ['long, written immediately', padding],
  ])('fails or is executed, and later queries get their own responses: %s', async (_, extra) => {
    const sql = pool();
    await select(sql, 'warm');
    let retry: Promise<Outcome> | undefined;
    await doom(sql, () => {
      retry = outcomeOf(select(sql, 'retry', extra));
    });
    fake.resetAll();
    await eventually(() => expect(retry).toBeDefined());
    const outcome = await retry;
    expect(outcome).toEqual(fake.executed.includes("select 'retry'") ? { tags: ['retry'] } : lost);
    for (const tag of ['one', 'two', 'three']) expect(await outcomeOf(select(sql, tag))).toEqual({ tags: [tag] });
    expect(await outcomeOf(sql.begin((tx) => select(tx, 'secret')))).toEqual({ tags: ['secret'] });
  });
});

describe('a transaction whose connection is lost', () => {
  test.each([
    ['by an error message of the server', '57P01'],
    ['by a clean close', undefined],
  ])('fails, and so do its later queries: %s', async (_, code) => {
    const sql = pool({ max: 2 });
    await Promise.all([select(sql, 'warm1'), select(sql, 'warm2')]);
    fake.onExecute = (statement, { socket }) => {
      if (!statement.includes('doomed')) return false;
      if (code === undefined) socket.end();
      else socket.end(fatalError(code));
      return true;
    };
    expect(await outcomeOf(sql.begin((tx) => select(tx, 'doomed')))).toMatchObject({ failed: expect.any(String) });
    fake.onExecute = undefined;
    for (const tag of ['one', 'two', 'three']) expect(await outcomeOf(select(sql, tag))).toEqual({ tags: [tag] });
  });

  test('fails on a reset, and the pool stays usable', async () => {
    const sql = pool();
    await select(sql, 'warm');
    fake.onExecute = (statement) => statement.includes('doomed');
    const transaction = outcomeOf(sql.begin((tx) => select(tx, 'doomed')));
    await eventually(() => expect(fake.executed).toContain("select 'doomed'"));
    fake.onExecute = undefined;
    fake.resetAll();
    expect(await transaction).toMatchObject({ failed: expect.any(String) });
    for (const tag of ['one', 'two']) expect(await outcomeOf(select(sql, tag))).toEqual({ tags: [tag] });
  });

  test('does not continue inside another transaction', async () => {
    const sql = pool();
    await select(sql, 'warm');
    const gate = Promise.withResolvers<void>();
    const [begun, continued] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const first = outcomeOf(
      sql.begin(async (tx) => {
        await select(tx, 'a1');
        begun.resolve();
        await gate.promise;
        await tx.unsafe('insert into a values (1)').catch(() => {});
        continued.resolve();
      }),
    );
    await begun.promise;
    for (const { socket } of [...fake.connections]) socket.end();
    expect(await first).toEqual(lost);
    fake.executed.length = 0;
    const second = outcomeOf(
      sql.begin(async (tx) => {
        await tx.unsafe('insert into b values (1)');
        gate.resolve();
        await continued.promise;
        throw new Error('rolled back on purpose');
      }),
    );
    expect(await second).toEqual({ failed: 'rolled back on purpose' });
    expect(fake.executed).toEqual(['begin', 'insert into b values (1)', 'rollback']);
  });

  test('fails its waiting queries', async () => {
    const sql = pool();
    await select(sql, 'warm');
    fake.onExecute = (statement, { socket }) => {
      if (!statement.includes('doomed')) return false;
      socket.end();
      return true;
    };
    let waiting: Promise<Outcome>[] = [];
    const transaction = outcomeOf(
      sql.begin(async (tx) => {
        waiting = [tx`select 'doomed', ${'x'}::text`, tx`select 'second'`, tx`select 'third'`].map(outcomeOf);
        await Promise.all(waiting);
      }),
    );
    expect(await transaction).toEqual(lost);
    expect(await Promise.all(waiting)).toEqual([lost, lost, lost]);
  });
});

describe('the next connection', () => {
  test('does not fail with the error of the previous one', async () => {
    const sql = pool();
    await select(sql, 'warm');
    fake.onExecute = (statement, { socket }) => {
      if (!statement.includes('doomed')) return false;
      socket.end(fatalError('57P01'));
      return true;
    };
    expect(await outcomeOf(select(sql, 'doomed'))).toMatchObject({ failed: expect.any(String) });
    fake.onExecute = undefined;
    expect(await outcomeOf(select(sql, 'next'))).toEqual({ tags: ['next'] });
  });

  test('does not append to the rows of the previous one', async () => {
    const sql = pool();
    await select(sql, 'warm');
    fake.onExecute = (statement, { socket }) => {
      if (!statement.includes('doomed')) return false;
      socket.end(dataRow('partial'));
      return true;
    };
    expect(await outcomeOf(select(sql, 'doomed'))).toEqual(lost);
    fake.onExecute = undefined;
    expect(await outcomeOf(select(sql, 'next'))).toEqual({ tags: ['next'] });
  });
});

test('a server that accepts and closes connections fails the query, after a delay for each attempt', async () => {
  const sql = pool({ backoff: () => 0.2 });
  fake.onAccept = ({ socket }) => {
    socket.end();
    return true;
  };
  for (let i = 0; i < 3; i++) expect(await outcomeOf(select(sql, 'x'))).toEqual(lost);
  expect(fake.accepted).toBe(3);
});

test('a query that is answered with ReadyForQuery alone fails', async () => {
  const sql = pool();
  fake.onExecute = (statement, { socket }) => {
    if (!statement.includes('doomed')) return false;
    socket.write(readyForQuery);
    return true;
  };
  expect(await outcomeOf(select(sql, 'doomed'))).toEqual({ failed: 'NO_ANSWER' });
});

test('a transaction whose COMMIT is answered with ROLLBACK fails', async () => {
  const sql = pool();
  fake.onExecute = (statement, { socket }) => {
    if (statement !== 'commit') return false;
    socket.write(Buffer.concat([commandComplete('ROLLBACK'), readyForQuery]));
    return true;
  };
  expect(await outcomeOf(sql.begin((tx) => select(tx, 'x')))).toEqual({ failed: 'NOT_COMMITTED' });
});

describe('end()', () => {
  test('resolves after a connection was closed by the server', async () => {
    const sql = pool();
    await select(sql, 'warm');
    fake.onExecute = (_, { socket }) => {
      socket.end();
      return true;
    };
    expect(await outcomeOf(select(sql, 'doomed'))).toEqual(lost);
    expect(await outcomeOf(sql.end())).toEqual({ tags: [] });
  });

  test('resolves when the server closes the connection during a query', async () => {
    const sql = pool();
    await select(sql, 'warm');
    fake.onExecute = () => true;
    const query = outcomeOf(select(sql, 'slow'));
    await eventually(() => expect(fake.executed).toContain("select 'slow'"));
    const ended = outcomeOf(sql.end());
    for (const { socket } of [...fake.connections]) socket.end();
    expect(await query).toEqual(lost);
    expect(await ended).toEqual({ tags: [] });
  });
});

describe('reserve()', () => {
  test('resolves on a pool that has no connection yet', async () => {
    const sql = pool();
    expect(await outcomeOf(sql.reserve().then((reserved) => select(reserved, 'x')))).toEqual({ tags: ['x'] });
  });

  test('fails on a pool that has ended', async () => {
    const sql = pool();
    await select(sql, 'warm');
    await sql.end();
    expect(await outcomeOf(sql.reserve())).toEqual({ failed: 'CONNECTION_ENDED' });
  });

  test('fails once its connection is lost, and the pool stays usable', async () => {
    const sql = pool();
    await select(sql, 'warm');
    const reserved = await sql.reserve();
    fake.onExecute = (statement, { socket }) => {
      if (!statement.includes('doomed')) return false;
      socket.end();
      return true;
    };
    expect(await outcomeOf(select(reserved, 'doomed'))).toEqual(lost);
    expect(await outcomeOf(select(reserved, 'again'))).toEqual(lost);
    expect(await outcomeOf(select(sql, 'later'))).toEqual({ tags: ['later'] });
  });
});

test('a reset while types are fetched does not crash the process', async () => {
  const sql = pool({ fetch_types: true });
  let fetches = 0;
  fake.onExecute = (statement, { socket }) => {
    if (!statement.includes('pg_type') || fetches++ > 0) return false;
    socket.resetAndDestroy();
    return true;
  };
  await outcomeOf(select(sql, 'x'));
});

test('a query with an invalid parameter fails without affecting others', async () => {
  const sql = pool();
  await select(sql, 'warm');
  const good = outcomeOf(select(sql, 'good'));
  const bad = outcomeOf(sql`select ${undefined as unknown as string}`);
  expect(await good).toEqual({ tags: ['good'] });
  expect(await bad).toEqual({ failed: 'UNDEFINED_VALUE' });
  for (const tag of ['one', 'two']) expect(await outcomeOf(select(sql, tag))).toEqual({ tags: [tag] });
});

test('a BEGIN that fills the pipeline leaves no transaction open', async () => {
  const sql = pool({ max: 2, max_pipeline: 2 } as postgres.Options<Record<string, never>>);
  await Promise.all([select(sql, 'warm1'), select(sql, 'warm2')]);
  const queries = [1, 2, 3, 4].map((i) => outcomeOf(select(sql, `q${i}`).execute()));
  expect(await outcomeOf(sql.begin((tx) => select(tx, 'inside')))).toEqual({ tags: ['inside'] });
  expect(await Promise.all(queries)).toEqual([1, 2, 3, 4].map((i) => ({ tags: [`q${i}`] })));
  expect(fake.connections.map(({ transaction }) => transaction)).toEqual(['I', 'I']);
});

test.each([
  ['before it is sent', true],
  ['while the pool connects', false],
])('a query cancelled %s releases its connection', async (_, isWarm) => {
  const sql = pool();
  if (isWarm) await select(sql, 'warm');
  const query = select(sql, 'x');
  const cancelled = outcomeOf(query.execute());
  query.cancel();
  await cancelled;
  expect(await outcomeOf(select(sql, 'next'))).toEqual({ tags: ['next'] });
});
