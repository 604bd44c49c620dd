import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isCalm, LocalScans, localClock, type ScanHistory, silenceOf, spikeOf } from '../../src/alerts/rhythm.ts';
import { type DemoCode, demoCodes } from '../../src/cli/demo/codes.ts';
import { type Random, seeded } from '../../src/cli/demo/random.ts';
import { demoYear } from '../../src/cli/demo/year.ts';

const hourMs = 3_600_000;
const dayHours = 24;
const weekHours = 168;
const utc = localClock('UTC', new Date());

const historyOf = (hours: Iterable<readonly [number, number]>): ScanHistory => ({
  scans: new LocalScans(utc, hours),
  created: -1,
  quietSince: -1,
});

/** As an evaluation at `now` reads it: nothing that happened later. */
const upTo = (hours: number[], now: number): ScanHistory => historyOf(hours.slice(0, now).entries());

/** A number of events whose mean is `mean`, by Knuth's method. */
function poisson(mean: number, random: Random): number {
  const limit = Math.exp(-mean);
  let count = 0;
  for (let product = random(); product > limit; product *= random()) count++;
  return count;
}

/** The scans of each hour of some weeks from a Monday on, with this mean in each hour of a week. */
const steady = (means: readonly number[], weeks: number, random: Random): number[] =>
  Array.from({ length: weeks * weekHours }, (_, hour) => poisson(means[hour % weekHours] ?? 0, random));

/** Open from 9 to 18 on all days but Monday. */
const shop = Array.from({ length: weekHours }, (_, hour) =>
  hour >= dayHours && hour % dayHours >= 9 && hour % dayHours < 18 ? 4 : 0,
);
/** 11:00 on the Tuesday of the ninth week. */
const stop = 8 * weekHours + dayHours + 11;

describe('a code that is scanned as usual', () => {
  const means = fc.array(fc.constantFrom(0, 0, 0.1, 0.5, 2, 8), { minLength: weekHours, maxLength: weekHours });

  test('is neither silent nor has a spike, whatever its week looks like', () => {
    fc.assert(
      fc.property(means, fc.integer(), (week, seed) => {
        const hours = steady(week, 10, seeded(seed));
        for (let now = 9 * weekHours; now < hours.length; now += 5) {
          const history = upTo(hours, now);
          expect(silenceOf(history, now)).toBeUndefined();
          expect(spikeOf(history, now)).toBeUndefined();
        }
      }),
      { numRuns: 25, seed: 26 },
    );
  });

  test('is found silent when about 12 scans are missing, however many it has', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.integer(), (factor, seed) => {
        const week = shop.map((mean) => mean * factor);
        const history = upTo(steady(week, 9, seeded(seed)), stop);
        const silentHours = history.scans.last + 1;
        const missing = (hours: number) =>
          week.slice(silentHours % weekHours, (silentHours % weekHours) + hours).reduce((sum, mean) => sum + mean, 0);
        const found = Array.from({ length: 40 }, (_, i) => i).find(
          (hours) => silenceOf(history, silentHours + hours) !== undefined,
        ) as number;
        expect(missing(found)).toBeGreaterThanOrEqual(10);
        expect(missing(found - 2)).toBeLessThanOrEqual(20);
      }),
      { numRuns: 25, seed: 26 },
    );
  });

  test('is not silent on a closing day', () => {
    const hours = steady(shop, 9, seeded(1));
    expect(silenceOf(upTo(hours, hours.length), hours.length + 23)).toBeUndefined();
  });

  test('has a spike when it is scanned five times as often, which is over when that ends', () => {
    const hours = steady(shop, 10, seeded(2));
    const friday = 8 * weekHours + 4 * dayHours;
    for (let hour = friday; hour < friday + dayHours; hour++) hours[hour] = 5 * (hours[hour] ?? 0);
    const raised = Array.from({ length: dayHours }, (_, i) => spikeOf(upTo(hours, friday + i), friday + i));
    const at = raised.findIndex((spike) => spike !== undefined);
    expect(at).toBeGreaterThan(9);
    expect(at).toBeLessThan(15);
    expect(isCalm(upTo(hours, friday + 20), friday + 20)).toBe(false);
    expect(isCalm(upTo(hours, friday + 72), friday + 72)).toBe(true);
  });
});

test('a code needs three weeks of scans, and a silence begins after the last change of the code', () => {
  const history = upTo(steady(shop, 9, seeded(3)), stop);
  const now = stop + 7;
  expect(silenceOf(history, now)).toMatchObject({ scans: 0 });
  expect(silenceOf({ ...history, created: stop - 2 * weekHours }, now)).toBeUndefined();
  expect(silenceOf({ ...history, quietSince: now - 1 }, now)).toBeUndefined();
});

test('a code whose festival is over is not silent', () => {
  const hours = steady(shop, 9, seeded(4));
  for (let hour = 5 * weekHours; hour < stop; hour++) hours[hour] = 20 * (hours[hour] ?? 0);
  const history = upTo(hours, stop);
  expect(silenceOf(history, stop + 1)).toBeUndefined();
});

test('the week follows the clocks of the account, also when they change', () => {
  // Open from 12 to 14 o'clock in Vienna. The clocks go back on 25 October 2026.
  const counted: [number, number][] = [];
  const first = Date.UTC(2026, 8, 7) / hourMs;
  const wednesday = Date.UTC(2026, 10, 4) / hourMs;
  for (let day = first; day < wednesday; day += dayHours)
    for (const hour of [12, 13]) counted.push([day + hour - (day < Date.UTC(2026, 9, 25) / hourMs ? 2 : 1), 20]);
  const silenceAt = (timezone: string, hour: number) => {
    const clock = localClock(timezone, new Date((wednesday + hour) * hourMs));
    const history = { scans: new LocalScans(clock, counted), created: -1, quietSince: -1 };
    return silenceOf(history, clock((wednesday + hour) * hourMs));
  };
  // 12:00 in Vienna is 11:00 UTC again.
  expect(silenceAt('Europe/Vienna', 11.9)).toBeUndefined();
  expect(silenceAt('Europe/Vienna', 12.1)).toMatchObject({ weeks: Array.from({ length: 8 }, () => 20) });
  expect(silenceAt('UTC', 11.1), 'in UTC, lunch was an hour earlier in summer').toBeUndefined();
  expect(silenceAt('UTC', 13.1)?.weeks).toEqual([40, 40, 40, 40, 40, 40, 40, 40]);
});

describe('the year of the demo', () => {
  const now = new Date(Date.UTC(2026, 10, 17, 9));
  const clock = localClock('Europe/Paris', now);
  const today = Math.floor(now.getTime() / (dayHours * hourMs)) * dayHours;
  const hourOf = (daysAgo: number, hour = 0) => today - daysAgo * dayHours + hour;

  /** What is raised about a code that is checked every hour, once until it is over. */
  function raisedOf(code: DemoCode, counted: ReadonlyMap<number, number>) {
    const raised: { name: string; kind: string; daysAgo: number }[] = [];
    const scans = new LocalScans(clock);
    const changes = (code.changes ?? []).map(({ daysAgo }) => hourOf(daysAgo, 5));
    const paused = code.changes?.find(({ active }) => active === false);
    const end = paused === undefined ? hourOf(0, 9) : hourOf(paused.daysAgo);
    let [isSilent, isSpike] = [false, false];
    for (let hour = hourOf(code.daysAgo); hour < end; hour++) {
      const local = clock(hour * hourMs);
      const changed = Math.max(hourOf(code.daysAgo, 5), ...changes.filter((at) => at <= hour));
      const history = { scans, created: clock(hourOf(code.daysAgo) * hourMs), quietSince: clock(changed * hourMs) };
      const add = (kind: string) => raised.push({ name: code.name, kind, daysAgo: (today - hour) / dayHours });
      const silence = silenceOf(history, local);
      if (silence !== undefined && !isSilent) add('silent');
      isSilent = silence !== undefined;
      const spike = spikeOf(history, local);
      if (spike !== undefined && !isSpike) add('spike');
      isSpike = spike !== undefined || (isSpike && !isCalm(history, local));
      scans.add(local, counted.get(hour) ?? 0);
    }
    return raised;
  }

  function raisedIn(total: number) {
    const counted = demoCodes.map(() => new Map<number, number>());
    for (const { codes } of demoYear(now, total))
      for (const { index, scans } of codes)
        for (const { occurred_at, is_bot } of scans) {
          const hour = Math.floor(occurred_at.getTime() / hourMs);
          const hours = counted[index];
          if (!is_bot) hours?.set(hour, (hours.get(hour) ?? 0) + 1);
        }
    return demoCodes.flatMap((code, index) => raisedOf(code, counted[index] ?? new Map()));
  }

  test.each([80_000, 30_000])('has exactly its planted events, each found while it lasts: %i scans', (total) => {
    const planted = demoCodes.flatMap(({ name, event }) => (event === undefined ? [] : [{ name, event }]));
    expect(raisedIn(total)).toEqual(
      planted.map(({ name, event }) => ({
        name,
        kind: event.times === 0 ? 'silent' : 'spike',
        daysAgo: expect.toSatisfy(
          (daysAgo: number) => daysAgo <= event.daysAgo && daysAgo > event.daysAgo - event.days,
        ),
      })),
    );
  });
});
