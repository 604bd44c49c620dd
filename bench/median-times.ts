import { median } from './row.ts';

/** The median duration of each piece of work, run alternately so that load of the machine affects all of them. */
export async function medianTimesMs<K extends string>(
  repetitions: number,
  work: Record<K, () => Promise<unknown>>,
  { warmUpRounds = 1 } = {},
): Promise<Record<K, number>> {
  const names = Object.keys(work) as K[];
  const times = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<K, number[]>;
  for (let round = -warmUpRounds; round < repetitions; round++)
    for (const name of names) {
      const started = performance.now();
      await work[name]();
      if (round >= 0) times[name].push(performance.now() - started);
    }
  return Object.fromEntries(names.map((name) => [name, median(times[name])])) as Record<K, number>;
}
