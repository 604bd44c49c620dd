import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BenchStack, load } from './bench-stack.ts';

/** Scans these short codes at a steady rate, and returns how often. Throws unless every scan is answered with 302. */
export async function loadRedirects(
  stack: BenchStack,
  url: string,
  shortCodes: readonly string[],
  { seconds, rate }: { seconds: number; rate: number },
): Promise<number> {
  const targets = join(stack.folder, 'targets.json');
  writeFileSync(targets, JSON.stringify(shortCodes.map((code) => ({ path: `/${code}`, authorization: 'none' }))));
  const { statuses } = await load(`${url}/`, { connections: 64, seconds, rate, targets });
  const others = Object.keys(statuses).filter((status) => status !== '302');
  if (others.length > 0) throw new Error(`some scans were answered with ${others.join(', ')} instead of 302`);
  return statuses['302'] ?? 0;
}
