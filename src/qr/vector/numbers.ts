/** A number as PDF and PostScript read it: up to four decimals, no exponent. */
export function numeral(value: number): string {
  const rounded = Math.round(value * 10_000) / 10_000;
  // Also turns -0 into 0.
  return Number.isInteger(rounded) ? String(rounded + 0) : String(Number(rounded.toFixed(4)));
}

export const numerals = (...values: number[]): string => values.map(numeral).join(' ');

export const pointsOf = (millimeters: number): number => (millimeters * 72) / 25.4;
