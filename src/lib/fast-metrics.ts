import { Counter, Gauge, type Registry } from 'prom-client';

/** A counter with one label for the hot path: `count` adds to a number, and the metric is computed when it is scraped. */
export interface FastCounter<K extends string> {
  count(key: K): void;
}

export function createFastCounter<K extends string>(
  { name, help, label }: { name: string; help: string; label: string },
  registry: Registry,
): FastCounter<K> {
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

/** A gauge for the hot path: callers change `n`, and the metric is set when it is scraped. */
export interface FastGauge {
  n: number;
}

export function createFastGauge(named: { name: string; help: string }, registry: Registry): FastGauge {
  const gauge = { n: 0 };
  new Gauge({
    ...named,
    registers: [registry],
    collect() {
      this.set(gauge.n);
    },
  });
  return gauge;
}
