import { setTimeout as sleep } from 'node:timers/promises';
import { Events, type JetStreamClient, type JetStreamManager } from 'nats';
import type { LogRange } from '../../events/entry.ts';
import { messageOf } from '../lib/errors.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import { floorOfLog } from '../log/floor.ts';
import { locks } from '../log/locks.ts';
import { headOfLog, readRange } from '../log/read.ts';
import type { Tracing } from '../tracing/tracing.ts';
import type { StreamContext } from './context.ts';
import { endOf, ensureStream } from './jetstream.ts';
import { type Leadership, seekLeadership } from './leader.ts';
import { abandonTail, findLostTail } from './lost-tail.ts';
import { cut, type Message, subjects } from './messages.ts';
import { headersWith, messagingAttributes, rangeAttributes } from './trace-headers.ts';

const batchSize = 5_000;
/** Scans wait for the next poll, which makes messages larger; changes of codes and accounts wake the relay at once. */
const pollMs = 100;
/** Without scans the interval doubles up to this, because an edge wakes the relay when it stores scans after a pause. */
const maxPollMs = 2_000;
const retryMs = 250;

export interface Relay extends Leadership {
  /** Polls the log now, because it has new entries. */
  wake(): void;
}

/** The last message of the stream. Its id is undefined until this process has published a message. */
interface Published {
  sequence: number;
  id: string | undefined;
}

/**
 * Publishes the log to JetStream, in order. One process is the leader; another takes over within seconds.
 *
 * There is no checkpoint: the relay resumes after the stream's last message. What the stream has lost, because it was not
 * yet on disk or because the stream was deleted, is published again. A relay that has been replaced without noticing cannot
 * interfere, because every message names the message that it must follow.
 */
export function startRelay(context: StreamContext): Relay {
  const { sql, databaseUrl, nats, stream, log, metrics, tracing } = context;
  const js = nats.jetstream({ timeout: 2_000 });
  let wake = () => {};
  let reconnects = 0;
  (async () => {
    for await (const { type } of nats.status()) if (type === Events.Reconnect) reconnects++;
  })();

  /** Comparing once per election is enough, because every failover of Postgres ends the leadership. */
  let isCompared = false;

  /** Publishes until the signal is aborted or NATS reconnects; rejects on failure. */
  async function relay(signal: AbortSignal): Promise<void> {
    const manager = await nats.jetstreamManager({ timeout: 2_000 });
    await ensureStream(manager, context);
    if (!isCompared) await compareWithLog(context, manager, signal);
    isCompared = true;
    const end = await endOf(manager, stream);
    let last: Published = { sequence: end.sequence, id: undefined };
    // An empty stream starts at the head of the log: projections read what is before it from the log.
    let position = Math.max(end.position ?? (await headOfLog(sql)), await floorOfLog(sql));
    log.info({ position, sequence: end.sequence }, "relay resumes after the stream's last message");
    const reconnectsAtStart = reconnects;

    // A restarted server may have lost acknowledged messages, so a reconnect ends the loop: the stream's end is read again.
    let pauseMs = pollMs;
    while (!signal.aborted && reconnects === reconnectsAtStart) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const range = await readRange(sql, position, batchSize);
      if (range.entries.length > 0) {
        const send = (traceparent?: string) => publish(js, stream, cut(range), { last, traceparent });
        last = tracing === undefined ? await send() : await publishTraced(tracing, stream, range, send);
        position = range.to;
      }
      metrics.relayPosition.set(position);
      if (!range.isCut) {
        metrics.relayLag.set(0);
        pauseMs = range.entries.length > 0 ? pollMs : Math.min(pauseMs * 2, maxPollMs);
        await withTimeout(woken, pauseMs, () => {});
      } else metrics.relayLag.set((await headOfLog(sql, position)) - position);
    }
  }

  const leadership = seekLeadership({
    databaseUrl,
    lock: locks.relay,
    name: 'relay',
    log,
    async lead(signal) {
      isCompared = false;
      while (!signal.aborted) {
        await relay(signal).catch((error) => {
          metrics.relayFailures.inc();
          log.warn({ error: messageOf(error), retryMs }, 'relay failed, retrying');
        });
        if (!signal.aborted) await sleep(retryMs);
      }
    },
  });
  return { stop: leadership.stop, wake: () => wake() };
}

interface PublishOptions {
  last: Published;
  /** Only while traces are on. Consumers without traces ignore the header. */
  traceparent: string | undefined;
}

/** Publishes messages after `last`, and returns the last of them. */
async function publish(
  js: JetStreamClient,
  stream: string,
  messages: Message[],
  { last, traceparent }: PublishOptions,
): Promise<Published> {
  const subject = subjects(stream);
  // The sequence in the id lets a message that the stream has lost be published again: it does not count as a duplicate.
  const ids = messages.map(({ after, to }, i) => `${after}-${to}@${last.sequence + i}`);
  const acks = await Promise.all(
    messages.map(({ kind, data }, i) => {
      const lastMsgID = i === 0 ? last.id : ids[i - 1];
      // The expected id as well: a server that rejoins its cluster can acknowledge into an old copy of the stream for
      // about a second. With the sequence alone, the stream would then accept a message that does not follow its last.
      const expect = { lastSequence: last.sequence + i, ...(lastMsgID === undefined ? {} : { lastMsgID }) };
      // New headers for each message: the client adds the id and the expectation to them.
      const traced = traceparent === undefined ? {} : { headers: headersWith(traceparent) };
      return js.publish(subject[kind], data, { msgID: ids[i] as string, expect, ...traced });
    }),
  );
  return { sequence: acks.at(-1)?.seq ?? last.sequence, id: ids.at(-1) ?? last.id };
}

/** Publishes a range in a span, which begins the trace that the projections continue. */
async function publishTraced(
  tracing: Tracing,
  stream: string,
  { after, to, entries }: LogRange,
  send: (traceparent: string) => Promise<Published>,
): Promise<Published> {
  const attributes = { ...messagingAttributes(stream, 'publish', 'send'), ...rangeAttributes({ after, to, entries }) };
  return tracing.record(`publish ${stream}`, { kind: 'producer', attributes }, (span) =>
    send(tracing.traceparentOf(span)),
  );
}

/** Abandons the events that the stream has and the log has lost, if there are any. */
async function compareWithLog(context: StreamContext, manager: JetStreamManager, signal: AbortSignal): Promise<void> {
  const { sql, stream, log, metrics } = context;
  const lost = await findLostTail(sql, manager, stream, signal);
  if (lost === undefined) return;
  metrics.lostTails.inc();
  log.error(
    { agreed_to: lost.agreedTo, lost_to: lost.lostTo },
    'the log has lost events that the stream has: rebuilding counters and warehouse from the log',
  );
  log.warn({ position: await abandonTail(sql, lost) }, 'the log continues at a position after the lost events');
}
