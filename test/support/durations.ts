/**
 * Seconds that a file takes on two cores beside others, as far as it takes more than 10. They decide the order of the files
 * and the estimate of the time that is left, nothing else.
 */
const seconds: Record<string, number> = {
  'edge/faults/two-services': 79,
  'browser/console': 107,
  'edge/faults/clickhouse': 47,
  'edge/faults/edges': 48,
  'edge/faults/external-servers': 36,
  'cli/up': 57,
  'edge/faults/chaos': 48,
  'maintenance/retention-steps': 53,
  'webhooks/delivery': 53,
  'edge/faults/nats-cluster': 48,
  'maintenance/erasure': 49,
  'browser/swagger': 48,
  'deploy/page': 48,
  'edge/faults/disk-first': 51,
  'browser/lists': 46,
  'browser/analytics': 45,
  'browser/sessions': 45,
  'deploy/monitoring': 43,
  'projections/analytics': 39,
  'hostile/operations': 37,
  'browser/phone': 36,
  'browser/create': 36,
  'edge/faults/failover': 29,
  'api/openapi-linters': 29,
  'webhooks/webhooks': 29,
  'browser/time-travel': 26,
  'stack/server-user': 26,
  'stack/clickhouse': 25,
  'cli/backup': 24,
  'feed/feed': 23,
  'maintenance/retention': 22,
  'browser/rules': 22,
  'cli/doctor': 20,
  'api/webhook': 18,
  'api/images': 18,
  'hostile/strangers': 16,
  'webhooks/crash': 16,
  'cli/secret': 16,
  'deploy/proxies': 15,
  'projections/state': 14,
  'service/stopping': 14,
  'edge/faults/driver': 14,
  'deploy/upgrade': 14,
  'edge/far-away': 11,
  'api/analytics/model': 11,
  'stream/runner': 11,
  'stream/relay': 11,
  'projections/warehouse-faults': 11,
  'api/analytics/export': 11,
  'hostile/injection': 11,
  'maintenance/archive-rewrite': 10,
};

const defaultSeconds = 3;

/** The expected duration of a test file. */
export function secondsOf(path: string): number {
  const name = /\/test\/(.+)\.test\.ts$/.exec(path)?.[1] ?? '';
  return seconds[name] ?? defaultSeconds;
}
