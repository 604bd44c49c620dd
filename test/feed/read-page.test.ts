import { expect, test } from 'vitest';
import { Filter } from '../../src/feed/filter.ts';
import { readPage } from '../../src/feed/read-page.ts';
import type { Queryable } from '../../src/lib/sql.ts';
import { reaches } from '../support/eventually.ts';
import { manualTimers } from '../support/timers.ts';

/** A Postgres that answers each query when the test says so; every answer is one row. */
function heldPostgres(row: object): { sql: Queryable; queries: (() => void)[] } {
  const queries: (() => void)[] = [];
  const sql = () => new Promise((resolve) => queries.push(() => resolve([row])));
  return { sql: sql as unknown as Queryable, queries };
}

const wanted = { after: 0, filter: new Filter({}), limit: 10 };

test('one page of an account is read at a time, and pages of another account meanwhile', async () => {
  const held = Promise.withResolvers<never>();
  let queries = 0;
  const sql = (() => {
    queries++;
    return held.promise;
  }) as unknown as Queryable;
  const read = (account: string) => readPage(sql, { account, mode: 'live' }, wanted);
  const reads = [...Array.from({ length: 129 }, () => read('acct_a')), read('acct_b')];
  const settled = Promise.allSettled(reads);
  await reaches(2, () => queries);
  await expect(read('acct_a')).rejects.toMatchObject({ code: 'unavailable' });
  held.reject(new Error('no connection'));
  for (const outcome of await settled) expect(outcome).toMatchObject({ reason: { message: 'no connection' } });
});

test('while others of the account wait, a pause follows that is three times as long as the read', async () => {
  // At the end of the log, a page is one query.
  const { sql, queries } = heldPostgres({ position: 0 });
  const timers = manualTimers();
  const read = () => readPage(sql, { account: 'acct_a', mode: 'live' }, wanted, timers);
  const [first, second] = [read(), read()];
  await reaches(1, () => queries.length);
  timers.advance(30);
  queries[0]?.();
  await reaches(1, () => timers.waiting);
  expect(queries, 'the second one waits for its turn').toHaveLength(1);
  await timers.next();
  expect(await first).toMatchObject({ isAtEnd: true });
  expect(timers.now()).toBe(120);
  await reaches(2, () => queries.length);
  queries[1]?.();
  expect(await second, 'nothing waits for the pause of the last one').toMatchObject({ isAtEnd: true });
});
