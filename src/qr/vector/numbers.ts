/** The coordinates of a symbol repeat: looking them up is several times as fast as formatting them again. */
const maxCached = 20_000;
const cached = new Map<number, string>();

/** A number as PDF and PostScript read it: up to four decimals, no exponent. */
export function numeral(value: number): string {
  const scaled = Math.round(value * 10_000);
  const known = cached.get(scaled);
  if (known !== undefined) return known;
  // The number nearest to four decimals is written with no more of them. Adding 0 turns -0 into 0.
  const text = String(scaled / 10_000 + 0);
  if (cached.size >= maxCached) cached.clear();
  cached.set(scaled, text);
  return text;
}

export const numerals = (...values: number[]): string => values.map(numeral).join(' ');

export const pointsOf = (millimeters: number): number => (millimeters * 72) / 25.4;
