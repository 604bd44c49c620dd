import { median } from './row.ts';

/** How long each takes, all in turns, so that the machine's moods hit all of them. */
export async function takeTurns<K extends string>(repetitions: number, work: Record<K, () => Promise<unknown>>) {
  const names = Object.keys(work) as K[];
  const took = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<K, number[]>;
  for (let round = -1; round < repetitions; round++)
    for (const name of names) {
      const started = performance.now();
      await work[name]();
      // The first round is for warming up.
      if (round >= 0) took[name].push(performance.now() - started);
    }
  return Object.fromEntries(names.map((name) => [name, median(took[name])])) as Record<K, number>;
}
