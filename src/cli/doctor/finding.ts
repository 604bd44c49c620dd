import { type Clock, systemClock } from '../../lib/clock.ts';

/** The result of one check. The message of a warning or an error says what to change. */
export interface Finding {
  part: 'service' | 'postgres' | 'nats' | 'clickhouse';
  check: string;
  status: 'ok' | 'warning' | 'error';
  message: string;
}

export type Outcome = Pick<Finding, 'status' | 'message'>;

export const ok = (message: string): Outcome => ({ status: 'ok', message });
export const warning = (message: string): Outcome => ({ status: 'warning', message });
export const error = (message: string): Outcome => ({ status: 'error', message });

/** The checks of one part by name. A check returns undefined if it does not apply. */
export type Checks = Record<string, () => Outcome | undefined | Promise<Outcome | undefined>>;

/** Runs checks one after the other. A check that throws becomes an error, and the others still run. */
export async function runChecks(
  part: Finding['part'],
  checks: Checks,
  reasonOf: (error: unknown) => string,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [check, run] of Object.entries(checks)) {
    const outcome = await Promise.resolve()
      .then(run)
      .catch((thrown) => error(`The check failed: ${reasonOf(thrown)}`));
    if (outcome !== undefined) findings.push({ part, check, ...outcome });
  }
  return findings;
}

export const bytes = (count: number): string => {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = count < 1 ? 0 : Math.min(Math.floor(Math.log2(count) / 10), units.length - 1);
  return `${(count / 1024 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
};

/** Whether a version such as `2.9.10-beta.1` or `24.8.4.13` is at least `oldest`. */
export function isAtLeast(version: string, oldest: readonly [major: number, minor: number]): boolean {
  const [major = 0, minor = 0] = version.split(/[.-]/).map(Number);
  return major > oldest[0] || (major === oldest[0] && minor >= oldest[1]);
}

const maxClockDifferenceMs = { ok: 1_000, warning: 30_000 };

/** Compares a server's clock with this machine's; the duration of the request is not counted as a difference. */
export async function compareClocks(serverTimeMs: () => Promise<number>, clock: Clock = systemClock): Promise<Outcome> {
  const before = clock().getTime();
  const server = await serverTimeMs();
  const after = clock().getTime();
  const differenceMs = server < before ? before - server : Math.max(server - after, 0);
  const seconds = (differenceMs / 1000).toFixed(1);
  if (differenceMs <= maxClockDifferenceMs.ok) return ok('Its clock matches this machine’s.');
  const message = `Its clock differs from this machine’s by ${seconds} s: synchronize both with NTP.`;
  return differenceMs <= maxClockDifferenceMs.warning ? warning(message) : error(message);
}
