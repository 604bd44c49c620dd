import { afterEach, expect, test } from 'vitest';
import { idleSeconds, setTimeouts, timeouts } from '../../src/lib/timeouts.ts';

afterEach(() => setTimeouts(1));

test.each([1, 20])('a connection stays open until its request is answered, also with TIMEOUT_SCALE=%i', (scale) => {
  setTimeouts(scale);
  const { apiMs, imageMs, bodyMs, feedMs, analyticsReadMs, routeLookupMs, limitedScansMs } = timeouts;
  const answered = {
    // An image waits for its turn as long as a request of the API, and is drawn after that.
    image: apiMs + imageMs,
    feed: feedMs,
    analytics: analyticsReadMs,
    'slow body': bodyMs,
    redirect: routeLookupMs + limitedScansMs,
  };
  for (const [what, ms] of Object.entries(answered)) expect(ms, what).toBeLessThan(timeouts.idleConnectionMs);
});

test('a timeout for an idle connection is in whole seconds, up to the maximum of Bun', () => {
  expect([idleSeconds(1), idleSeconds(20_000), idleSeconds(400_000)]).toEqual([1, 20, 255]);
});
