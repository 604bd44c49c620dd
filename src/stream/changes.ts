import type { NatsConnection } from 'nats';
import { type Change, isScan } from '../../events/entry.ts';
import { decode, subjects } from './messages.ts';

/**
 * Hears of changes of codes and accounts the moment they are relayed. A plain subscription: what it misses while NATS is
 * away is never sent again, so whoever needs all of it must ask the log as well.
 */
export function followChanges(
  nats: NatsConnection,
  stream: string,
  onChanges: (entries: Change[]) => void,
): () => void {
  const subscription = nats.subscribe(subjects(stream).changes, {
    callback: (error, message) => {
      if (error === null) onChanges(decode(message.data).entries.filter((entry) => !isScan(entry)));
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
