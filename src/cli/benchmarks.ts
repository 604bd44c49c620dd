/** Their names, apart from the benchmarks themselves: only who runs one needs what it needs. */
export const benchmarks = [
  'redirect',
  'log',
  'analytics',
  'images',
  'webhooks',
  'api',
  'growth',
  'leaks',
  'all',
] as const;
export type Benchmark = (typeof benchmarks)[number];
