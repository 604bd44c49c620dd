import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startProxy, type TcpProxy } from '../../../bench/chaos/proxy.ts';
import type { Sql } from '../../../src/lib/sql.ts';
import { connect, isPostgresUnavailable } from '../../../src/log/connect.ts';
import { useDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { atOnce } from '../../support/http.ts';

const database = useDatabase();
const clients = 12;
let proxy: TcpProxy;
let sql: Sql;
beforeAll(async () => {
  proxy = await startProxy(database.url);
  sql = connect(proxy.url, { max: 4 });
  await database.sql`CREATE TABLE tokens (token text PRIMARY KEY)`;
});
beforeEach(() => database.sql`TRUNCATE tokens`);
afterAll(async () => {
  await sql.end({ timeout: 1 });
  await proxy.close();
});

let count = 0;
const newToken = () => `token ${++count}`;

interface Outcome {
  token: string;
  /** The result; undefined if the database was unavailable. */
  response: string | undefined;
}

/** Runs `work` in `clients` loops while `damage` is applied `times` times, then until one call succeeds. */
async function underDamage(
  damage: () => void,
  times: number,
  work: (token: string) => Promise<string | undefined>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let isOver = false;
  const attempt = async () => {
    const outcome: Outcome = { token: newToken(), response: undefined };
    outcomes.push(outcome);
    try {
      outcome.response = await work(outcome.token);
    } catch (error) {
      if (!isPostgresUnavailable(error)) throw error;
    }
  };
  const loops = atOnce(clients, async () => {
    while (!isOver) await attempt();
  });
  const answers = () => outcomes.filter(({ response }) => response !== undefined).length;
  for (let i = 0; i < times; i++) {
    damage();
    const next = answers() + Math.random() * 20;
    await eventually(() => expect(answers()).toBeGreaterThan(next));
  }
  isOver = true;
  await loops;
  await eventually(async () => {
    await attempt();
    expect(outcomes.at(-1)?.response, 'recovers without a restart').toBe(outcomes.at(-1)?.token);
  });
  return outcomes;
}

const expectOwnResponses = (outcomes: Outcome[]) => {
  const answered = outcomes.filter(({ response }) => response !== undefined);
  expect(answered.filter(({ token, response }) => token !== response)).toEqual([]);
};

const damages: [string, () => void][] = [
  ['reset one by one', () => proxy.reset('one')],
  ['reset all at once', () => proxy.reset('all')],
  ['reset in the middle of a message', () => proxy.resetInMessage('one')],
  ['closed by the server', () => proxy.halfClose('one', 'client')],
];

describe.each(damages)('connections %s', (_, damage) => {
  test('a query gets its own rows or an error', async () => {
    const outcomes = await underDamage(damage, 25, async (token) => {
      const rows = await sql<{ token: string }[]>`SELECT ${token}::text AS token`;
      return rows.length === 1 ? rows[0]?.token : `${rows.length} rows`;
    });
    expectOwnResponses(outcomes);
    await proxy.restore();
  });

  test('a transaction that resolves is stored', async () => {
    const outcomes = await underDamage(damage, 25, (token) =>
      sql.begin(async (tx) => {
        await tx`INSERT INTO tokens VALUES (${token})`;
        const [row] = await tx<{ token: string }[]>`SELECT token FROM tokens WHERE token = ${token}`;
        return row?.token ?? 'no row';
      }),
    );
    expectOwnResponses(outcomes);
    const stored = new Set((await database.sql<{ token: string }[]>`SELECT token FROM tokens`).map((r) => r.token));
    const resolved = outcomes.filter(({ response }) => response !== undefined);
    expect(resolved.filter(({ token }) => !stored.has(token))).toEqual([]);
    await proxy.restore();
  });
});
