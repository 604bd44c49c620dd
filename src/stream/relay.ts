import { setTimeout as sleep } from 'node:timers/promises';
import { Events, type JetStreamManager } from 'nats';
import { messageOf } from '../lib/errors.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import { floorOfLog } from '../log/floor.ts';
import { locks } from '../log/locks.ts';
import { headOfLog, readRange } from '../log/read.ts';
import type { StreamContext } from './context.ts';
import { endOf, ensureStream } from './jetstream.ts';
import { type Leadership, seekLeadership } from './leader.ts';
import { abandonTail, findLostTail } from './lost-tail.ts';
import { cut, type Message, subjects } from './messages.ts';

const batch = 5_000;
/** Scans wait for the next look, so that they go in large messages; a change of a code does not wait. */
const pollMs = 50;
const retryMs = 250;

export interface Relay extends Leadership {
  /** A code or account has changed: look now. */
  wake(): void;
}

/** The last message of the stream; its id is unknown until this process has published one. */
interface Published {
  sequence: number;
  id: string | undefined;
}

/**
 * Publishes the log to JetStream, in order. One relay of all does; any other takes over within seconds.
 *
 * It keeps no checkpoint: where to go on stands in the stream's last message. So what the stream lost, be it the tail
 * that was not yet on disk or all of it, is published again; and a relay that has been replaced without knowing cannot
 * get in between, since every message names the one it must follow.
 */
export function startRelay(context: StreamContext): Relay {
  const { sql, databaseUrl, nats, stream, log, metrics } = context;
  const subject = subjects(stream);
  const js = nats.jetstream({ timeout: 2_000 });
  let wake = () => {};
  let connections = 0;
  (async () => {
    for await (const { type } of nats.status()) if (type === Events.Reconnect) connections++;
  })();

  /** Publishes messages after `last`, and returns the last of them. */
  async function publish(messages: Message[], last: Published): Promise<Published> {
    // With its sequence: a message that was stored and lost is published again, and is no duplicate then.
    const ids = messages.map(({ after, to }, i) => `${after}-${to}@${last.sequence + i}`);
    const acks = await Promise.all(
      messages.map(({ kind, data }, i) => {
        const lastMsgID = i === 0 ? last.id : ids[i - 1];
        // Its id, too: a server that comes back to its cluster can acknowledge into an old copy of the stream for a
        // second, and the number alone would then let a message into the real one that does not follow its last.
        const expect = { lastSequence: last.sequence + i, ...(lastMsgID === undefined ? {} : { lastMsgID }) };
        return js.publish(subject[kind], data, { msgID: ids[i] as string, expect });
      }),
    );
    return { sequence: acks.at(-1)?.seq ?? last.sequence, id: ids.at(-1) ?? last.id };
  }

  /** Every failover ends a term of leadership, so comparing once a term is enough. */
  let isCompared = false;
  async function compareWithLog(manager: JetStreamManager, signal: AbortSignal): Promise<void> {
    const lost = await findLostTail(sql, manager, stream, signal);
    if (lost !== undefined) {
      metrics.lostTails.inc();
      log.error(
        { agreed_to: lost.agreedTo, lost_to: lost.lostTo },
        'the log has lost events that the stream has: rebuilding counters and warehouse from the log',
      );
      log.warn({ position: await abandonTail(sql, lost) }, 'the log continues after the events that it lost');
    }
    isCompared = true;
  }

  /** Relays until something fails, or the lead is lost. */
  async function relay(signal: AbortSignal): Promise<void> {
    const manager = await nats.jetstreamManager({ timeout: 2_000 });
    await ensureStream(manager, context);
    if (!isCompared) await compareWithLog(manager, signal);
    const end = await endOf(manager, stream);
    let last: Published = { sequence: end.sequence, id: undefined };
    // Projections read what an empty stream no longer has from the log themselves.
    let position = Math.max(end.position ?? (await headOfLog(sql)), await floorOfLog(sql));
    log.info({ position, sequence: end.sequence }, "relay resumes after the stream's last message");
    const connection = connections;

    // A server that was away may have lost what it had acknowledged: then look again where the stream ends.
    while (!signal.aborted && connections === connection) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const range = await readRange(sql, position, batch);
      if (range.entries.length > 0) {
        last = await publish(cut(range), last);
        position = range.to;
      }
      metrics.relayPosition.set(position);
      if (range.entries.length < batch) {
        metrics.relayLag.set(0);
        await withTimeout(woken, pollMs, () => {});
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
        await relay(signal).catch((error) => log.warn({ error: messageOf(error), retryMs }, 'relay failed, retries'));
        if (!signal.aborted) await sleep(retryMs);
      }
    },
  });
  return { stop: leadership.stop, wake: () => wake() };
}
