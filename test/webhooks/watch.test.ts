import { describe, expect, test } from 'vitest';
import { RequestTimeouts, timedOut } from '../../src/webhooks/watch.ts';
import { manualTimers } from '../support/timers.ts';

const given = (timeoutMs: number) => {
  const timers = manualTimers();
  const timeouts = new RequestTimeouts(timeoutMs, timers);
  const started = () => {
    const request = new AbortController();
    timeouts.start(request);
    return request;
  };
  return { timers, timeouts, started };
};
const reasonOf = ({ signal }: AbortController) => (signal.aborted ? signal.reason : undefined);

describe('request timeouts', () => {
  test('abort a request after the timeout, with the reason', () => {
    const { timers, started } = given(100);
    const request = started();
    timers.advance(99);
    expect(reasonOf(request)).toBeUndefined();
    timers.advance(1);
    expect(reasonOf(request)).toBe(timedOut);
  });

  test('do not abort a request that has ended', () => {
    const { timers, timeouts, started } = given(100);
    const [ended, hanging] = [started(), started()];
    timeouts.end(ended);
    timers.advance(1_000);
    expect([ended, hanging].map(reasonOf)).toEqual([undefined, timedOut]);
  });

  test('start over when a controller is reused', () => {
    const { timers, timeouts, started } = given(100);
    const [again, first] = [started(), started()];
    timers.advance(60);
    timeouts.end(again);
    timeouts.start(again);
    timers.advance(40);
    expect([again, first].map(reasonOf)).toEqual([undefined, timedOut]);
    timers.advance(60);
    expect(reasonOf(again)).toBe(timedOut);
  });

  test('still work, without a timer meanwhile, after all requests have ended', () => {
    const { timers, started } = given(100);
    for (let i = 0; i < 2; i++) {
      const request = started();
      timers.advance(100);
      expect(reasonOf(request)).toBe(timedOut);
      expect(timers.waiting).toBe(0);
    }
  });
});
