import type { Scan } from '../../../events/scan.ts';
import type { DemoCode } from './codes.ts';
import { pick, type Random } from './random.ts';

/** The generated fields of a scan; the others come from its code. */
export type DemoScan = Pick<
  Scan,
  'occurred_at' | 'country' | 'region' | 'city' | 'device' | 'browser' | 'is_bot' | 'visitor'
>;

/** A returning visitor keeps device, browser and city. */
type Visitor = Omit<DemoScan, 'occurred_at' | 'is_bot'>;

const places: readonly (readonly [number, string, string, string])[] = [
  [34, 'FR', 'Auvergne-Rhône-Alpes', 'Lyon'],
  [9, 'FR', 'Auvergne-Rhône-Alpes', 'Villeurbanne'],
  [7, 'FR', 'Île-de-France', 'Paris'],
  [3, 'FR', 'Provence-Alpes-Côte d’Azur', 'Marseille'],
  [3, 'FR', 'Auvergne-Rhône-Alpes', 'Grenoble'],
  [5, 'DE', 'Bavaria', 'Munich'],
  [3, 'DE', 'Berlin', 'Berlin'],
  [5, 'GB', 'England', 'London'],
  [2, 'GB', 'England', 'Manchester'],
  [4, 'CH', 'Geneva', 'Geneva'],
  [2, 'CH', 'Zurich', 'Zürich'],
  [4, 'IT', 'Piedmont', 'Turin'],
  [3, 'ES', 'Catalonia', 'Barcelona'],
  [3, 'US', 'New York', 'New York'],
  [2, 'US', 'California', 'San Francisco'],
  [2, 'BE', 'Brussels Capital', 'Brussels'],
  [2, 'NL', 'North Holland', 'Amsterdam'],
  [1, 'JP', 'Tokyo', 'Tokyo'],
  [1, 'CA', 'Quebec', 'Montreal'],
  [2, 'XX', 'Unknown', 'Unknown'],
];

const clients: readonly (readonly [number, string, string])[] = [
  [45, 'ios', 'safari'],
  [5, 'ios', 'chrome'],
  [28, 'android', 'chrome'],
  [12, 'android', 'samsung_browser'],
  [4, 'android', 'other'],
  [4, 'desktop', 'chrome'],
  [2, 'desktop', 'other'],
];

const botShare = 0.012;
/** Only the most recent visitors return. */
const maxReturningVisitors = 400;

/** Relative number of scans of a code on a day: growth, weekday, season, event, and a random factor. */
export function weightOn(code: DemoCode, day: Date, daysAgo: number, random: Random): number {
  if (daysAgo > code.daysAgo || code.weight === 0 || pausedOn(code, daysAgo)) return 0;
  const age = 1 - daysAgo / Math.max(1, code.daysAgo);
  const growth = code.growth ** (age - 0.5);
  // 1 in mid-July, -1 in mid-January.
  const summer = Math.cos((2 * Math.PI * (day.getUTCMonth() - 6.5)) / 12);
  const season = 1 + { summer: 0.85, winter: -0.5, none: 0.05 }[code.season ?? 'none'] * summer;
  const { event } = code;
  const isEvent = event !== undefined && daysAgo <= event.daysAgo && daysAgo > event.daysAgo - event.days;
  const weather = 0.75 + 0.5 * random();
  return (
    code.weight * growth * season * (code.rhythm.week[day.getUTCDay()] ?? 1) * weather * (isEvent ? event.times : 1)
  );
}

function pausedOn({ changes = [] }: DemoCode, daysAgo: number): boolean {
  const last = changes.findLast((change) => change.active !== undefined && change.daysAgo >= daysAgo);
  return last?.active === false;
}

/** Returns a function that generates the scans of one code on one day. */
export function scanGenerator(code: DemoCode, random: Random) {
  const visitors: Visitor[] = [];

  function visitor(): Visitor {
    if (visitors.length > 0 && random() < code.returning)
      return visitors[Math.floor(random() ** 0.6 * visitors.length)] as Visitor;
    const [, country, region, city] = pick(places, random);
    const [, device, browser] = pick(clients, random);
    const digits = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join('');
    const newVisitor = { country, region, city, device, browser, visitor: digits };
    visitors.push(newVisitor);
    if (visitors.length > maxReturningVisitors) visitors.shift();
    return newVisitor;
  }

  const hours = code.rhythm.day.map((share, hour) => [share, hour] as const);
  return (day: Date, count: number, until: Date): DemoScan[] =>
    Array.from({ length: count }, () => {
      const [, hour] = pick(hours, random);
      const occurred_at = new Date(day.getTime() + (hour + random()) * 3_600_000);
      return { occurred_at, is_bot: random() < botShare, ...visitor() };
    })
      .filter(({ occurred_at }) => occurred_at <= until)
      .sort((a, b) => a.occurred_at.getTime() - b.occurred_at.getTime());
}
