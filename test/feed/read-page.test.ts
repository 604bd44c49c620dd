import { expect, test } from 'vitest';
import { Filter } from '../../src/feed/filter.ts';
import { readPage } from '../../src/feed/read-page.ts';
import type { Queryable } from '../../src/lib/sql.ts';
import { microtasks } from '../lib/microtasks.ts';

test('two pages of an account are read at a time, and pages of another account meanwhile', async () => {
  const held = Promise.withResolvers<never>();
  let queries = 0;
  const sql = (() => {
    queries++;
    return held.promise;
  }) as unknown as Queryable;
  const read = (account: string) =>
    readPage(sql, { account, mode: 'live' }, { after: 0, filter: new Filter({}), limit: 10 });
  const reads = [...Array.from({ length: 130 }, () => read('acct_a')), read('acct_b')];
  const settled = Promise.allSettled(reads);
  await microtasks();
  expect(queries).toBe(3);
  await expect(read('acct_a')).rejects.toMatchObject({ code: 'unavailable' });
  held.reject(new Error('no connection'));
  for (const outcome of await settled) expect(outcome).toMatchObject({ reason: { message: 'no connection' } });
});
