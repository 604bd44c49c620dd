import { expect, test } from 'vitest';
import { exportTurn } from '../../../src/api/analytics/export-turns.ts';
import { eventually } from '../../support/eventually.ts';
import { type ManualTimers, manualTimers } from '../../support/timers.ts';

const always = new AbortController().signal;

/** Reads of exports, each of which lasts until \`end\`. */
function given(timers: ManualTimers = manualTimers()) {
  const running: { name: string; end(): void }[] = [];
  const read = (account: string, name: string, signal = always) =>
    exportTurn(
      account,
      () => new Promise<string>((resolve) => running.push({ name, end: () => resolve(name) })),
      signal,
      timers,
    );
  const begun = (names: string[]) => eventually(() => expect(running.map(({ name }) => name)).toEqual(names));
  const end = () => running.shift()?.end();
  return { timers, read, begun, end };
}

test('exports of one account read one after the other, those of another at the same time', async () => {
  const { timers, read, begun, end } = given();
  const [first, second, other] = [read('acct_1', 'first'), read('acct_1', 'second'), read('acct_2', 'other')];
  await begun(['first', 'other']);
  timers.advance(200);
  end();
  await eventually(() => expect(timers.waiting, 'the pause of the first').toBe(1));
  await begun(['other']);
  timers.advance(199);
  await begun(['other']);
  timers.advance(1);
  await begun(['other', 'second']);
  end();
  end();
  expect(await Promise.all([first, second, other])).toEqual(['first', 'second', 'other']);
  expect(timers.waiting, 'no pause when no other export waits').toBe(0);
});

test('an export whose client leaves gives up its turn, and its pause', async () => {
  const { timers, read, begun, end } = given();
  const leaving = new AbortController();
  const first = read('acct_3', 'first', leaving.signal);
  const second = read('acct_3', 'second');
  await begun(['first']);
  timers.advance(200);
  end();
  await eventually(() => expect(timers.waiting).toBe(1));
  leaving.abort();
  await begun(['second']);
  const third = read('acct_3', 'third', AbortSignal.abort());
  await expect(third).rejects.toMatchObject({ code: 'unavailable' });
  end();
  expect(await Promise.all([first, second])).toEqual(['first', 'second']);
});

test('more than 64 that wait are refused, and a failed read passes the turn on', async () => {
  const { timers, read, begun, end } = given();
  const failing = exportTurn('acct_4', () => Promise.reject(new Error('no answer')), always, timers);
  const reads = Array.from({ length: 64 }, (_, i) => read('acct_4', String(i)));
  await expect(read('acct_4', 'too many')).rejects.toMatchObject({ code: 'unavailable' });
  await expect(failing).rejects.toThrow('no answer');
  await begun(['0']);
  for (const [i, one] of reads.entries()) {
    await begun([String(i)]);
    end();
    // The pause, while others wait.
    if (i < reads.length - 1) await timers.next();
    expect(await one).toBe(String(i));
  }
});
