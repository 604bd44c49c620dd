import { type DemoCode, demoCodes } from './codes.ts';
import { seeded } from './random.ts';
import { type DemoScan, scanGenerator, weightOn } from './scans.ts';

const dayMs = 86_400_000;
export const daysInYear = 365;

/** One day of the demo. */
export interface DemoDay {
  daysAgo: number;
  /** Its beginning in UTC. */
  day: Date;
  /** The codes that exist on this day, with their index in `demoCodes`. */
  codes: { index: number; code: DemoCode; scans: DemoScan[] }[];
}

/** The days of a year that ends at `now`, oldest first, with about `total` scans. Always the same for the same `now`. */
export function* demoYear(now: Date, total: number): Generator<DemoDay> {
  const today = Math.floor(now.getTime() / dayMs) * dayMs;
  const dayOf = (daysAgo: number) => new Date(today - daysAgo * dayMs);
  const random = seeded(26);
  const weights = demoCodes.map((code) =>
    Array.from({ length: daysInYear }, (_, daysAgo) => weightOn(code, dayOf(daysAgo), daysAgo, random)),
  );
  const perWeight = total / weights.flat().reduce((sum, weight) => sum + weight, 0);
  const generators = demoCodes.map((code) => scanGenerator(code, random));
  for (let daysAgo = daysInYear - 1; daysAgo >= 0; daysAgo--) {
    const day = dayOf(daysAgo);
    const codes: DemoDay['codes'] = [];
    for (const [index, code] of demoCodes.entries()) {
      if (daysAgo > code.daysAgo) continue;
      const count = Math.floor((weights[index]?.[daysAgo] ?? 0) * perWeight + random());
      codes.push({ index, code, scans: generators[index]?.(day, count, now) ?? [] });
    }
    yield { daysAgo, day, codes };
  }
}
