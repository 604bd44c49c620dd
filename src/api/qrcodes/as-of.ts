import { type Static, Type as t } from '@sinclair/typebox';
import type { Code } from '../../../events/code.ts';
import type { Owner } from '../../../events/owner.ts';
import { readTimestamp, timestampProblem } from '../../../events/timestamp.ts';
import { countScans, type ScanFigures } from '../../analytics/scan-figures.ts';
import { blockOfThen } from '../../codes/blocked-hosts.ts';
import type { CountedCode, Listing } from '../../codes/codes.ts';
import { listCodesAsOf } from '../../codes/list-as-of.ts';
import type { ListPosition } from '../../codes/list-order.ts';
import { codeAsOf } from '../../codes/past.ts';
import { lostCounts } from '../../codes/scan-totals.ts';
import { invalid } from '../../lib/errors.ts';
import { readWarehouse } from '../analytics/reading.ts';
import type { Service } from '../service.ts';
import { presentListed, presentPage, presentRead } from './present.ts';
import type { PastListedQrCode, PastQrCode } from './qrcode-schemas.ts';

/** The query parameter of reads that can be of an earlier time. */
export const asOfQuery = (description: string) => ({
  as_of: t.Optional(
    t.String({
      description: `${description} A timestamp with its offset from UTC, not in the future.`,
      examples: ['2026-05-03T12:00:00+02:00'],
      'x-expected': 'a timestamp such as 2026-05-03T12:00:00Z',
    }),
  ),
});

/** The time of an `as_of`; throws 400 for anything but a time until now. */
export function readAsOf(text: string | undefined, now: Date): Date | undefined {
  if (text === undefined) return undefined;
  // A plus sign that was not escaped in a URL arrives as a space.
  const asOf = readTimestamp(text.replace(' ', '+'));
  if (asOf === undefined) throw invalid([{ field: 'as_of', message: `as_of ${timestampProblem}.` }]);
  if (asOf > now) throw invalid([{ field: 'as_of', message: 'as_of must not be in the future.' }]);
  return asOf;
}

/** A code as it was, with what is known about its scans until then: undefined if the retention has deleted some of them. */
export interface PastCode {
  code: Code;
  figures: ScanFigures | undefined;
}

/** What a code was at a time, with its scans until then. Throws 404 if it did not exist yet. */
export async function readPast(service: Service, current: CountedCode, asOf: Date): Promise<PastCode> {
  // First, because a code that did not exist yet is not found, whether analytics are available or not.
  const code = await codeAsOf(service.sql, current, asOf);
  const figures = await figuresUntil(service, current, [current.id], asOf);
  return { code, figures: figures.get(current.id) };
}

/** What decides where a code led at a time. Without a limit, no scan needs to be counted. */
export async function readLimitedPast(service: Service, current: CountedCode, asOf: Date): Promise<CountedCode> {
  const code = await codeAsOf(service.sql, current, asOf);
  const figures = code.max_scans === null ? undefined : await figuresUntil(service, code, [code.id], asOf);
  return countedThen({ code, figures: figures?.get(code.id) });
}

/** Without figures, the log says whether the limit was reached. */
const countedThen = ({ code, figures }: PastCode): CountedCode => ({
  ...code,
  total_scans: figures?.total ?? 0,
  unique_scans: figures?.unique ?? 0,
  used_scans: code.max_scans === null ? null : (figures?.used ?? (code.limit_reached_at === null ? 0 : code.max_scans)),
});

/** A code as the single read returned it at a time. */
export async function presentPast(
  { sql, addresses }: Service,
  past: PastCode,
  asOf: Date,
): Promise<Static<typeof PastQrCode>> {
  const counted = countedThen(past);
  const block = await blockOfThen(sql, counted.destination_url, asOf);
  const { remaining_scans, ...read } = presentRead(counted, addresses, { now: asOf, block });
  if (past.figures === undefined) return { ...read, total_scans: null, unique_scans: null };
  return remaining_scans === undefined ? read : { ...read, remaining_scans };
}

/** Codes as the list returned them at a time: one page, or those after a position. */
export async function listPast(
  service: Service,
  owner: Owner,
  asOf: Date,
  listing: Listing,
  after: ListPosition | undefined,
) {
  const { order } = listing;
  if (order === 'total_scans' || order === '-total_scans')
    throw invalid([{ field: 'sort', message: 'sort cannot be by total_scans together with as_of.' }]);
  const { codes, next, total } = await listCodesAsOf(service.sql, owner, asOf, listing, after);
  const ids = codes.map(({ id }) => id);
  const figures = await figuresUntil(service, owner, ids, asOf);
  const items = codes.map((code): Static<typeof PastListedQrCode> => {
    const total_scans = figures.get(code.id)?.total;
    const listed = presentListed({ ...code, total_scans: total_scans ?? 0 }, service.addresses);
    return { ...listed, total_scans: total_scans ?? null };
  });
  return after === undefined ? { ...presentPage(items, listing, total), next } : { data: items, next };
}

const none: ScanFigures = { total: 0, unique: 0, used: 0 };

/**
 * The scans of codes until a time, by code; a code is missing if the retention has deleted scans of before that time, of which
 * only the number is known.
 */
async function figuresUntil(
  service: Service,
  owner: Owner,
  codes: string[],
  asOf: Date,
): Promise<Map<string, ScanFigures>> {
  if (codes.length === 0) return new Map();
  const lost = await lostCounts(service.sql, codes);
  const complete = codes.filter((code) => !lost.now.has(code));
  const known = asOf < lost.before ? [] : [...lost.now.keys()];
  const { found } = await readWarehouse(service, owner, async (reading) => ({
    until: await countScans(reading, owner, complete, { start: new Date(0), end: asOf }),
    since: await countScans(reading, owner, known, { start: new Date(asOf.getTime() + 1), end: service.clock() }),
  }));
  return new Map([
    ...complete.map((code) => [code, found.until.get(code) ?? none] as const),
    // All scans without the scans since then: the deleted ones are all from before.
    ...known.map((code) => [code, minus(lost.now.get(code) ?? none, found.since.get(code) ?? none)] as const),
  ]);
}

const minus = (a: ScanFigures, b: ScanFigures): ScanFigures => ({
  total: Math.max(0, a.total - b.total),
  unique: Math.max(0, a.unique - b.unique),
  used: Math.max(0, a.used - b.used),
});
