import { Counter, Gauge, type Registry } from 'prom-client';

/**
 * A counter with one label for the hot path: `count` adds to a number, and the metric is computed when it is scraped. All
 * values of the label are there from the start, at 0: Prometheus sees no increase in a series that begins with 1.
 */
export interface FastCounter<K extends string> {
  count(key: K): void;
}

/**
 * Registers a counter.
 *
 * @example
 * const lookups = createFastCounter({ name: 'lookups_total', help: 'Lookups.', label: 'result', values: ['hit', 'miss'] }, registry);
 * lookups.count('hit');
 */
export function createFastCounter<K extends string>(
  { name, help, label, values }: { name: string; help: string; label: string; values: readonly K[] },
  registry: Registry,
): FastCounter<K> {
  const counts = new Map(values.map((value): [K, { n: number }] => [value, { n: 0 }]));
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
      if (count !== undefined) count.n++;
    },
  };
}

/** A gauge for the hot path: callers change `n`, and the metric is set when it is scraped. */
export interface FastGauge {
  n: number;
}

/**
 * Registers a gauge.
 *
 * @example
 * const waiting = createFastGauge({ name: 'waiting', help: 'Requests that wait.' }, registry);
 * waiting.n++;
 */
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
