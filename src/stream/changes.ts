import type { NatsConnection } from 'nats';
import { type Change, isScan, type LogRange } from '../../events/entry.ts';
import { decodeMessage } from '../../events/wire/stream-message.ts';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import { subjects } from './messages.ts';

/**
 * Calls `onChanges` with changes of codes and accounts as they are relayed, until the returned function is called. Messages
 * sent while NATS is unavailable, or that this process cannot decode, are not repeated: the caller must also poll the log.
 */
export const followChanges = (
  nats: NatsConnection,
  stream: string,
  onChanges: (entries: Change[]) => void,
  log: Logger,
): (() => void) =>
  follow(nats, subjects(stream).changes, ({ entries }) => onChanges(entries.filter((entry) => !isScan(entry))), log);

/** Like `followChanges`, with scans, and with the range of the log that each message covers. */
export const followLog = (
  nats: NatsConnection,
  stream: string,
  onRange: (range: LogRange) => void,
  log: Logger,
): (() => void) => follow(nats, `${stream}.*`, onRange, log);

function follow(nats: NatsConnection, subject: string, onRange: (range: LogRange) => void, log: Logger): () => void {
  let lastReason: string | undefined;
  const subscription = nats.subscribe(subject, {
    callback: (error, message) => {
      if (error !== null) return;
      try {
        onRange(decodeMessage(message.data));
      } catch (failure) {
        const reason = messageOf(failure);
        if (reason !== lastReason)
          log.warn(
            { error: reason },
            'changes from the stream cannot be decoded: they arrive later, by polling the log',
          );
        lastReason = reason;
      }
    },
  });
  return () => subscription.unsubscribe();
}

const nudgeSubject = (stream: string) => `${stream}_appended`;

/** Wakes the relay, which may run in another process, after an append. Best effort: the relay also polls the log. */
export const nudgeRelay = (nats: NatsConnection, stream: string) => {
  if (!nats.isClosed()) nats.publish(nudgeSubject(stream));
};

export function onNudge(nats: NatsConnection, stream: string, wake: () => void): void {
  nats.subscribe(nudgeSubject(stream), { callback: wake });
}
