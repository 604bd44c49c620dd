import { Counter, Gauge, type Registry } from 'prom-client';

/** Counts by one label, on the hot path: adding to a number, of which the metric is made only when somebody looks. */
export interface Tally<K extends string> {
  count(key: K): void;
}

export function createTally<K extends string>(
  { name, help, label }: { name: string; help: string; label: string },
  registry: Registry,
): Tally<K> {
  const counts = new Map<K, { n: number }>();
  new Counter({
    name,
    help,
    labelNames: [label],
    registers: [registry],
    collect() {
      this.reset();
      for (const [key, { n }] of counts) this.inc({ [label]: key }, n);
    },
  });
  return {
    count(key) {
      const count = counts.get(key);
      if (count === undefined) counts.set(key, { n: 1 });
      else count.n++;
    },
  };
}

/** How many there are of something now; kept like a tally. */
export interface Level {
  n: number;
}

export function createLevel(named: { name: string; help: string }, registry: Registry): Level {
  const level = { n: 0 };
  new Gauge({
    ...named,
    registers: [registry],
    collect() {
      this.set(level.n);
    },
  });
  return level;
}
