import { expect, test } from 'vitest';
import { EvenSteps } from '../../src/lib/even-steps.ts';
import { eventually } from '../support/eventually.ts';
import { manualTimers } from '../support/timers.ts';

/** Steps that take as long as a test says. */
function given() {
  const timers = manualTimers();
  const steps = new EvenSteps(timers);
  const begun: string[] = [];
  const run = (name: string, ms: number, fails = false) =>
    steps.run(async () => {
      begun.push(name);
      timers.advance(ms);
      if (fails) throw new Error(name);
      return name;
    });
  return { timers, begun, run };
}

test('the first step runs at once, and each other one after a pause as long as the step before', async () => {
  const { timers, begun, run } = given();
  expect(await run('first', 40)).toBe('first');
  const second = run('second', 10);
  await eventually(() => expect(timers.waiting, 'the pause').toBe(1));
  timers.advance(39);
  expect(begun).toEqual(['first']);
  timers.advance(1);
  expect(await second).toBe('second');
  const third = run('third', 1);
  await eventually(() => expect(timers.waiting).toBe(1));
  timers.advance(10);
  expect(await third).toBe('third');
});

test('a step that fails counts, too', async () => {
  const { timers, run } = given();
  await expect(run('failing', 20, true)).rejects.toThrow('failing');
  const next = run('next', 1);
  await eventually(() => expect(timers.waiting).toBe(1));
  timers.advance(20);
  expect(await next).toBe('next');
});
