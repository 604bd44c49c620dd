import type { JetStreamManager, NatsConnection } from 'nats';
import { afterAll, beforeAll, inject } from 'vitest';
import type { LogRange } from '../../events/entry.ts';
import { decodeMessage } from '../../events/wire/stream-message.ts';
import { counters } from '../../projections/counters.ts';
import { newId } from '../../src/lib/ids.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { createMetrics } from '../../src/lib/metrics.ts';
import type { Sql } from '../../src/lib/sql.ts';
import { appendScans, batchOf } from '../../src/log/append-scans.ts';
import { connectStream } from '../../src/stream/connect.ts';
import type { Leadership } from '../../src/stream/leader.ts';
import { cut, subjects } from '../../src/stream/messages.ts';
import { type Projection, runProjection } from '../../src/stream/runner.ts';
import { createDatabase, type TestDatabase, uniqueName } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { scanned } from '../support/scans.ts';

export interface TestStream {
  nats: NatsConnection;
  manager: JetStreamManager;
  /** Creates a database and the name of an unused stream, with the options of a relay or runner on them. */
  fresh(): Promise<TestDatabase & { common: Common; stream: string }>;
}

type Common = ReturnType<typeof commonOf>;

const commonOf = ({ sql, url }: TestDatabase, nats: NatsConnection, stream: string) => ({
  sql,
  databaseUrl: url,
  nats,
  stream,
  replicas: 1,
  log: createLogger('silent', false),
  metrics: createMetrics(),
});

/** Connects to NATS, by default to the shared test server, for a file whose tests each use their own log and stream. */
export function useStream(urlOf = () => inject('stack').natsUrl): TestStream {
  const stream = {} as TestStream;
  const ends: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    const nats = await connectStream(urlOf(), 'test', new AbortController().signal);
    ends.push(() => nats.close());
    // During an election of a cluster JetStream does not answer.
    const manager = await eventually(() => nats.jetstreamManager());
    const fresh = async () => {
      const { drop, ...database } = await createDatabase();
      const name = uniqueName();
      ends.push(drop, () => manager.streams.delete(name).catch(() => {}));
      return { ...database, stream: name, common: commonOf(database, nats, name) };
    };
    Object.assign(stream, { nats, manager, fresh });
  });
  afterAll(async () => {
    for (const end of ends.reverse()) await end();
  });
  return stream;
}

/** The counters without the maintenance that `runCounters` adds. */
export const countersProjection = (sql: Sql): Projection => ({
  name: counters.name,
  checkpoint: () => counters.checkpoint(sql),
  apply: (range) => counters.apply(sql, range),
  maxEntries: 10_000,
  pauseMs: 0,
});

export const runCountersProjection = (common: Common): Leadership =>
  runProjection({ ...common, lock: 98, projection: countersProjection(common.sql) });

/** Appends `count` batches of two scans of one code. */
export async function scan(sql: Sql, count: number, code = 'qr_1'): Promise<void> {
  const writer = newId('batch', Date.now());
  for (let number = 1; number <= count; number++)
    await appendScans(sql, batchOf(writer, number, [scanned({ code }), scanned({ code })]));
}

/** Publishes a range as the relay does, without checking where the stream ends. */
export async function publish({ nats }: TestStream, stream: string, range: LogRange): Promise<void> {
  for (const { kind, data } of cut(range)) await nats.jetstream().publish(subjects(stream)[kind], data);
}

/** All messages of the stream, decoded. */
export async function held({ manager }: TestStream, stream: string): Promise<LogRange[]> {
  const { state } = await manager.streams.info(stream);
  const ranges: LogRange[] = [];
  for (let seq = Math.max(state.first_seq, 1); seq <= state.last_seq; seq++) {
    const message = await manager.streams.getMessage(stream, { seq }).catch(() => undefined);
    if (message !== undefined) ranges.push(decodeMessage(message.data));
  }
  return ranges;
}

export const countsOf = async (sql: Sql, code = 'qr_1') => {
  const [row] = await sql<{ total_scans: number; unique_scans: number }[]>`
    SELECT total_scans, unique_scans FROM scan_counts WHERE code = ${code}`;
  return row === undefined ? [0, 0] : [row.total_scans, row.unique_scans];
};

/** Terminates the database session of the leader `name`, as a network failure would. Returns how many it terminated. */
export async function terminateLeader(sql: Sql, name: string): Promise<number> {
  const ended = await sql`
    SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity a JOIN pg_locks l ON l.pid = a.pid
    WHERE a.datname = current_database() AND a.application_name = ${`scanlog-${name}`}
      AND l.locktype = 'advisory' AND l.granted`;
  return ended.count;
}
