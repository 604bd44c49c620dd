import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { appendLockHolds } from './append-lock-holds.ts';
import { createFastCounter, createFastGauge } from './fast-metrics.ts';

const signInOutcomes = ['signed_in', 'refused', 'limited', 'signed_out'] as const;
export type SignInOutcome = (typeof signInOutcomes)[number];

const redirectOutcomes = [
  'redirected',
  'unknown',
  'paused',
  'draft',
  'not_started',
  'expired',
  'limit_reached',
  'deleted',
  'disabled',
  'busy',
  'method',
  'password',
  'wrong_password',
  'too_many_tries',
] as const;
const attemptOutcomes = ['delivered', 'refused', 'timeout', 'unreachable', 'forbidden'] as const;
const mailOutcomes = ['sent', 'refused', 'deferred', 'unreachable'] as const;
const edgeTasks = ['poll', 'snapshot', 'partitions', 'orphans', 'bans', 'domains', 'status'] as const;
const dropReasons = ['queue_full', 'export_failed'] as const;
const projections = ['counters', 'analytics', 'webhooks'] as const;

/** Begins at 0: Prometheus sees no increase in a series that begins with 1. */
function startAtZero<L extends string>(counter: Counter<L>, label: L, values: readonly string[]): Counter<L> {
  for (const value of values) counter.inc({ [label]: value } as Partial<Record<L, string>>, 0);
  return counter;
}

/** All metrics of a process. */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  return {
    registry,
    redirects: createFastCounter(
      {
        name: 'scanlog_redirects_total',
        help: 'Responses to requests for short links',
        label: 'outcome',
        values: redirectOutcomes,
      },
      registry,
    ),
    redirectSeconds: new Histogram({
      name: 'scanlog_redirect_seconds',
      help: 'Duration of requests for short links',
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
      registers,
    }),
    routeLookups: createFastCounter(
      {
        name: 'scanlog_route_lookups_total',
        help: 'Lookups of short codes in memory',
        label: 'result',
        values: ['hit', 'miss'] as const,
      },
      registry,
    ),
    commitScans: new Histogram({
      name: 'scanlog_commit_scans',
      help: 'Scans in one commit',
      buckets: [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000],
      registers,
    }),
    commitSeconds: new Histogram({
      name: 'scanlog_commit_seconds',
      help: 'Duration of a commit of scans',
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
      registers,
    }),
    appendLockHold: new Gauge({
      name: 'scanlog_append_lock_hold_seconds',
      help: 'Longest time in the last minute for which an append of this process made all other appends wait',
      aggregator: 'max',
      registers,
      collect() {
        this.set(appendLockHolds.value);
      },
    }),
    spoolBatches: new Gauge({
      name: 'scanlog_spool_batches',
      help: 'Batches of scans in the spool, not yet in Postgres',
      registers,
    }),
    spoolBytes: new Gauge({
      name: 'scanlog_spool_bytes',
      help: 'Bytes of scans in the spool, not yet in Postgres',
      registers,
    }),
    spoolSecondsLeft: new Gauge({
      name: 'scanlog_spool_seconds_left',
      help: 'How long it takes to commit the scans in the spool, at the measured rate',
      // Each edge drains its own spool.
      aggregator: 'max',
      registers,
    }),
    spoolStalledSeconds: new Gauge({
      name: 'scanlog_spool_stalled_seconds',
      help: 'How long no scans of the spool have been committed although some wait',
      aggregator: 'max',
      registers,
    }),
    drainedScans: new Counter({
      name: 'scanlog_drained_scans_total',
      help: 'Scans that were committed from the spool',
      registers,
    }),
    refusedScans: new Counter({
      name: 'scanlog_refused_scans_total',
      help: 'Scans that Postgres refused as invalid, stored in refused-scans.jsonl next to the spool',
      registers,
    }),
    unreadableSpools: new Gauge({
      name: 'scanlog_spool_orphans_unreadable',
      help: 'Spools of earlier edges with scans that cannot be read from disk',
      // All edges of a machine report the same spools.
      aggregator: 'max',
      registers,
    }),
    edgeTaskFailures: startAtZero(
      new Counter({
        name: 'scanlog_edge_task_failures_total',
        help: `Failed runs of a periodic task of an edge: ${edgeTasks.join(', ')}`,
        labelNames: ['task'] as const,
        registers,
      }),
      'task',
      edgeTasks,
    ),
    edgeDiskFree: new Gauge({
      name: 'scanlog_edge_disk_free_bytes',
      help: 'Space that is left on the disk of EDGE_DIR',
      // All edges of a machine report the same disk.
      aggregator: 'min',
      registers,
    }),
    edgeDiskSize: new Gauge({
      name: 'scanlog_edge_disk_size_bytes',
      help: 'Size of the disk of EDGE_DIR',
      aggregator: 'min',
      registers,
    }),
    relayPosition: new Gauge({ name: 'scanlog_relay_position', help: 'Last position sent to the stream', registers }),
    relayLag: new Gauge({
      name: 'scanlog_relay_lag_positions',
      help: 'Positions of the log not yet sent to the stream',
      registers,
    }),
    relayFailures: new Counter({
      name: 'scanlog_relay_failures_total',
      help: 'Failed attempts to send the log to the stream; while this rises, projections read the log instead',
      registers,
    }),
    lostTails: new Counter({
      name: 'scanlog_lost_tails_total',
      help: 'Times that the log had lost events which were relayed already; data derived from them was rebuilt',
      registers,
    }),
    projectionPosition: new Gauge({
      name: 'scanlog_projection_position',
      help: 'Last position that a projection has applied, whether a process runs it or not',
      labelNames: ['projection'] as const,
      // All processes report the same projections.
      aggregator: 'max',
      registers,
    }),
    projectionLag: new Gauge({
      name: 'scanlog_projection_lag_positions',
      help: 'Positions of the log that a projection has not applied yet, whether a process runs it or not',
      labelNames: ['projection'] as const,
      aggregator: 'max',
      registers,
    }),
    webhookAttempts: createFastCounter(
      {
        name: 'scanlog_webhook_attempts_total',
        help: 'Attempts to deliver a webhook',
        label: 'outcome',
        values: attemptOutcomes,
      },
      registry,
    ),
    webhooksInFlight: createFastGauge(
      { name: 'scanlog_webhooks_in_flight', help: 'Requests to webhook receivers in flight' },
      registry,
    ),
    webhooksWaiting: new Gauge({
      name: 'scanlog_webhooks_waiting',
      help: 'Webhook deliveries that wait for their first or next attempt',
      registers,
    }),
    webhooksDelay: new Gauge({
      name: 'scanlog_webhooks_delay_seconds',
      help: 'How long the webhook delivery that is due the longest has been waiting',
      registers,
    }),
    mailAttempts: startAtZero(
      new Counter({
        name: 'scanlog_mail_attempts_total',
        help: 'Attempts to send a mail: sent, refused for good, deferred by the server, or without a server that takes mail',
        labelNames: ['outcome'] as const,
        registers,
      }),
      'outcome',
      mailOutcomes,
    ),
    mailsWaiting: new Gauge({
      name: 'scanlog_mails_waiting',
      help: 'Mails that wait for their first or next attempt',
      registers,
    }),
    mailsDelay: new Gauge({
      name: 'scanlog_mails_delay_seconds',
      help: 'How long the mail that is due the longest has been waiting',
      registers,
    }),
    retentionSeconds: new Gauge({
      name: 'scanlog_retention_run_seconds',
      help: 'Duration so far of the current removal of scans older than SCAN_RETENTION_MONTHS; 0 if none is running',
      // All processes report the same run.
      aggregator: 'max',
      registers,
    }),
    signIns: createFastCounter(
      {
        name: 'scanlog_sign_ins_total',
        help: 'Console sign-ins by outcome, and sign-outs',
        label: 'outcome',
        values: signInOutcomes,
      },
      registry,
    ),
    droppedSpans: startAtZero(
      new Counter({
        name: 'scanlog_trace_spans_dropped_total',
        help: 'Spans that were dropped: too many waited (queue_full), or the collector did not accept them (export_failed)',
        labelNames: ['reason'] as const,
        registers,
      }),
      'reason',
      dropReasons,
    ),
    projectionFailures: startAtZero(
      new Counter({
        name: 'scanlog_projection_failures_total',
        help: 'Failed attempts to apply a batch to a projection; while this rises, the projection does not advance',
        labelNames: ['projection'] as const,
        registers,
      }),
      'projection',
      projections,
    ),
  };
}

export type Metrics = ReturnType<typeof createMetrics>;
