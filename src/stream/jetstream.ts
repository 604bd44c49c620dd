import {
  DiscardPolicy,
  type JetStreamManager,
  NatsError,
  nanos,
  RetentionPolicy,
  StorageType,
  type StoredMsg,
  type StreamConfig,
} from 'nats';
import { decode, subjects } from './messages.ts';

const day = 24 * 60 * 60 * 1000;

/** A stream is a transport: bounded in age and size. What falls out of it is still in the log. */
const settings = (stream: string): Partial<StreamConfig> & { name: string } => ({
  name: stream,
  subjects: Object.values(subjects(stream)),
  retention: RetentionPolicy.Limits,
  discard: DiscardPolicy.Old,
  storage: StorageType.File,
  max_age: nanos(2 * day),
  max_bytes: 1024 * 1024 * 1024,
  duplicate_window: nanos(120_000),
});

const isMissing = (error: unknown) =>
  error instanceof NatsError && (error.code === '404' || error.api_error?.code === 404);

const unlessMissing = <T>(found: Promise<T>): Promise<T | undefined> =>
  found.catch((error) => {
    if (isMissing(error)) return undefined;
    throw error;
  });

/** The stored message of this sequence, unless it is gone. */
export const findMessage = (manager: JetStreamManager, stream: string, seq: number): Promise<StoredMsg | undefined> =>
  unlessMissing(manager.streams.getMessage(stream, { seq }));

/** Makes the stream when it is not there: new, or lost with its storage. */
export async function ensureStream(manager: JetStreamManager, stream: string): Promise<void> {
  try {
    await manager.streams.info(stream);
  } catch (error) {
    if (!isMissing(error)) throw error;
    await manager.streams.add(settings(stream));
  }
}

export interface StreamEnd {
  /** The last position of the log that the stream holds; nothing when it holds none. */
  position: number | undefined;
  sequence: number;
}

export async function endOf(manager: JetStreamManager, stream: string): Promise<StreamEnd> {
  const { state } = await manager.streams.info(stream);
  // Messages that had the last numbers may be lost, and the stream's own count does not tell.
  for (let seq = state.last_seq; state.messages > 0 && seq >= state.first_seq; seq--) {
    const last = await unlessMissing(manager.streams.getMessage(stream, { seq }));
    if (last !== undefined) return { position: decode(last.data).to, sequence: state.last_seq };
  }
  return { position: undefined, sequence: state.last_seq };
}

/** The sequence of the first message that has something behind `position`; positions rise, so halving finds it. */
export async function sequenceBehind(manager: JetStreamManager, stream: string, position: number): Promise<number> {
  const { state } = await manager.streams.info(stream);
  // Of a stream that has never had a message it is 0.
  let low = Math.max(state.first_seq, 1);
  let high = state.last_seq + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const message = await unlessMissing(manager.streams.getMessage(stream, { seq: middle }));
    // One that has just fallen out of the stream is old.
    if (message === undefined || decode(message.data).to <= position) low = middle + 1;
    else high = middle;
  }
  return low;
}
