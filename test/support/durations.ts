/**
 * Seconds that a file takes on two cores beside others, as far as it takes more than 10. They decide the order of the files
 * and the estimate of the time that is left, nothing else.
 */
const seconds: Record<string, number> = {
  'browser/console': 106,
  'edge/faults/two-services': 90,
  'browser/lists': 61,
  'cli/up': 60,
  'webhooks/delivery': 60,
  'browser/swagger': 60,
  'maintenance/archive': 60,
  'maintenance/retention-steps': 57,
  'browser/sessions': 56,
  'browser/people': 55,
  'edge/faults/clickhouse': 54,
  'edge/faults/disk-first': 51,
  'browser/analytics': 51,
  'edge/faults/nats-cluster': 50,
  'browser/create': 50,
  'stack/clickhouse': 50,
  'maintenance/erasure': 49,
  'edge/faults/edges': 48,
  'edge/faults/chaos': 48,
  'deploy/page': 48,
  'browser/phone': 46,
  'browser/operator': 45,
  'deploy/monitoring': 43,
  'api/openapi-linters': 42,
  'projections/analytics': 39,
  'hostile/operations': 37,
  'edge/faults/external-servers': 36,
  'edge/faults/failover': 29,
  'webhooks/webhooks': 29,
  'browser/time-travel': 26,
  'stack/server-user': 26,
  'cli/backup': 24,
  'feed/feed': 23,
  'maintenance/retention': 22,
  'browser/rules': 22,
  'cli/doctor': 20,
  'api/analytics/reads': 20,
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
