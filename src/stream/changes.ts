import type { NatsConnection } from 'nats';
import { type Change, isScan } from '../../events/entry.ts';
import { decodeMessage } from '../../events/wire/stream-message.ts';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import { subjects } from './messages.ts';

/**
 * Receives changes of codes and accounts as they are relayed. A plain subscription: a message that is missed while NATS
 * is unavailable, or that this process cannot read, does not come again, so the receiver must poll the log as well.
 */
export function followChanges(
  nats: NatsConnection,
  stream: string,
  onChanges: (entries: Change[]) => void,
  log: Logger,
): () => void {
  let reported: string | undefined;
  const subscription = nats.subscribe(subjects(stream).changes, {
    callback: (error, message) => {
      if (error !== null) return;
      try {
        onChanges(decodeMessage(message.data).entries.filter((entry) => !isScan(entry)));
      } catch (failure) {
        const reason = messageOf(failure);
        if (reason !== reported)
          log.warn({ error: reason }, 'changes cannot be read from the stream, only from the log');
        reported = reason;
      }
    },
  });
  return () => subscription.unsubscribe();
}

const nudgeSubject = (stream: string) => `${stream}_appended`;

/** Tells the relay, wherever it runs, that a code or account has changed. Nothing depends on its arrival. */
export const nudgeRelay = (nats: NatsConnection, stream: string) => {
  if (!nats.isClosed()) nats.publish(nudgeSubject(stream));
};

export function onNudge(nats: NatsConnection, stream: string, wake: () => void): void {
  nats.subscribe(nudgeSubject(stream), { callback: wake });
}
