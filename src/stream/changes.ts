import type { NatsConnection } from 'nats';
import { type Change, isScan } from '../../events/entry.ts';
import { decodeMessage } from '../../events/wire/stream-message.ts';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import { subjects } from './messages.ts';

/**
 * Calls `onChanges` with changes of codes and accounts as they are relayed, until the returned function is called. Messages
 * sent while NATS is unavailable, or that this process cannot decode, are not repeated: the caller must also poll the log.
 */
export function followChanges(
  nats: NatsConnection,
  stream: string,
  onChanges: (entries: Change[]) => void,
  log: Logger,
): () => void {
  let lastReason: string | undefined;
  const subscription = nats.subscribe(subjects(stream).changes, {
    callback: (error, message) => {
      if (error !== null) return;
      try {
        onChanges(decodeMessage(message.data).entries.filter((entry) => !isScan(entry)));
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

/** Wakes the relay, which may run in another process, after a change. Best effort: the relay also polls the log. */
export const nudgeRelay = (nats: NatsConnection, stream: string) => {
  if (!nats.isClosed()) nats.publish(nudgeSubject(stream));
};

export function onNudge(nats: NatsConnection, stream: string, wake: () => void): void {
  nats.subscribe(nudgeSubject(stream), { callback: wake });
}
