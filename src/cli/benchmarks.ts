/** Only the names, so that other commands do not load the benchmarks and their dependencies. */
export const benchmarks = [
  'redirect',
  'cost',
  'recovery',
  'log',
  'analytics',
  'images',
  'webhooks',
  'feed',
  'api',
  'neighbours',
  'growth',
  'leaks',
  'operations',
  'replica',
  'all',
] as const;
export type Benchmark = (typeof benchmarks)[number];
