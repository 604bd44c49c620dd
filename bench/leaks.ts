import type { Ground } from './ground.ts';
import type { BenchRow } from './row.ts';
export async function benchLeaks(_: Ground, __: object): Promise<BenchRow[]> {
  return [];
}
