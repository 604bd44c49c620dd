import { nudgeRelay } from '../stream/changes.ts';
import type { Started } from './context.ts';

/** Wakes the relay, in this process or another, because the log has new entries. */
export function wakeRelay({ relay, nats, stream }: Started): void {
  relay?.wake();
  if (nats !== undefined) nudgeRelay(nats, stream);
}
