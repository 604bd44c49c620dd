import { expect, test } from 'vitest';
import { exportTurn } from '../../../src/api/analytics/export-turns.ts';
import { accountTurn } from '../../../src/lib/account-turns.ts';
import { eventually } from '../../support/eventually.ts';
import { manualTimers } from '../../support/timers.ts';

const always = new AbortController().signal;

/** Reads of exports, each of which lasts until the test ends it. */
function given() {
  const timers = manualTimers();
  const running = new Map<string, () => void>();
  const read = (account: string, name: string, signal = always) =>
    exportTurn(account, () => new Promise<string>((resolve) => running.set(name, () => resolve(name))), signal, timers);
  const begun = (...names: string[]) => eventually(() => expect([...running.keys()]).toEqual(names));
  const end = (name: string) => {
    running.get(name)?.();
    running.delete(name);
  };
  return { timers, read, begun, end };
}

test('exports of one account read one after the other, those of another at the same time', async () => {
  const { timers, read, begun, end } = given();
  const [first, second, other] = [read('acct_1', 'first'), read('acct_1', 'second'), read('acct_2', 'other')];
  await begun('first', 'other');
  timers.advance(200);
  end('first');
  expect(await first, 'before the pause').toBe('first');
  end('other');
  await other;
  await eventually(() => expect(timers.waiting, 'the pause of the first').toBe(1));
  timers.advance(199);
  await begun();
  timers.advance(1);
  await begun('second');
  end('second');
  expect(await second).toBe('second');
  await eventually(() => expect(timers.waiting, 'no pause when no other export waits').toBe(0));
});

test('an export whose client leaves gives up its turn', async () => {
  const { timers, read, begun, end } = given();
  const leaving = new AbortController();
  const first = read('acct_3', 'first');
  const second = read('acct_3', 'second', leaving.signal);
  const third = read('acct_3', 'third');
  await begun('first');
  leaving.abort();
  await expect(second).rejects.toMatchObject({ code: 'unavailable' });
  await expect(read('acct_3', 'fourth', AbortSignal.abort())).rejects.toMatchObject({ code: 'unavailable' });
  end('first');
  await first;
  await timers.next();
  await begun('third');
  end('third');
  expect(await third).toBe('third');
});

test('a read that hangs delays the next one by four seconds at most', async () => {
  const { timers, read, begun, end } = given();
  const [hanging, next] = [read('acct_4', 'hanging'), read('acct_4', 'next')];
  await begun('hanging');
  timers.advance(1_999);
  await begun('hanging');
  timers.advance(1);
  await timers.next();
  await begun('hanging', 'next');
  expect(timers.now()).toBe(4_000);
  end('next');
  expect(await next).toBe('next');
  end('hanging');
  expect(await hanging).toBe('hanging');
});

test('a failed read passes the turn on', async () => {
  const { timers, read, begun, end } = given();
  const failing = exportTurn('acct_5', () => Promise.reject(new Error('no answer')), always, timers);
  const next = read('acct_5', 'next');
  await expect(failing).rejects.toThrow('no answer');
  // The pause after a read of no time.
  await timers.next();
  await begun('next');
  end('next');
  expect(await next).toBe('next');
});

test('an export and the other long operations of its account wait for each other', async () => {
  const { timers, read, begun, end } = given();
  const revert = Promise.withResolvers<string>();
  const reverting = accountTurn('acct_6', () => revert.promise);
  const waiting = read('acct_6', 'waiting');
  const other = read('acct_7', 'other');
  await begun('other');
  revert.resolve('reverted');
  expect(await reverting).toBe('reverted');
  await begun('other', 'waiting');
  timers.advance(300);
  const update = accountTurn('acct_6', async () => 'updated');
  end('waiting');
  expect(await waiting).toBe('waiting');
  await eventually(() => expect(timers.waiting, 'the pause').toBe(1));
  timers.advance(300);
  expect(await update).toBe('updated');
  end('other');
  expect(await other).toBe('other');
});
