const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * A duration in seconds, minutes, hours or days, as milliseconds; undefined for anything else.
 *
 * @example
 * durationMs('90s'); // 90_000
 * durationMs('7d'); // 604_800_000
 * durationMs('1 week'); // undefined
 */
export function durationMs(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * unitMs[unit as keyof typeof unitMs];
}
