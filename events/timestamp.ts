const timestamp =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

const firstYear = 1970;
const lastYear = 2299;

export const timestampProblem =
  `must be a timestamp with its offset from UTC, such as 2026-12-01T09:00:00Z or 2026-12-01T10:00:00+01:00, ` +
  `of the years ${firstYear} to ${lastYear}`;

/** A point in time in ISO 8601 with its offset from UTC; undefined if it is none. */
export function readTimestamp(value: unknown): Date | undefined {
  const [, year, month, day] = (typeof value === 'string' ? (timestamp.exec(value) ?? []) : []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return undefined;
  if (year < firstYear || year > lastYear) return undefined;
  // Date.parse would turn the 30th of February into the 2nd of March.
  const date = new Date(Date.UTC(year, month - 1, day));
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  return new Date(String(value).toUpperCase());
}
