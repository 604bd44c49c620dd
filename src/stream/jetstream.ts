import {
  DiscardPolicy,
  type JetStreamManager,
  NatsError,
  nanos,
  RetentionPolicy,
  StorageType,
  type StoredMsg,
  type StreamConfig,
  type StreamInfo,
} from 'nats';
import { rangeOf } from '../../events/wire/stream-message.ts';
import { messageOf } from '../lib/errors.ts';
import type { StreamContext } from './context.ts';
import { subjects } from './messages.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** Settings that `ensureStream` updates on an existing stream, which an older version or other settings may have created. */
const limits = ({ replicas }: Pick<StreamContext, 'replicas'>) => ({
  max_age: nanos(2 * dayMs),
  max_bytes: 1024 * 1024 * 1024,
  duplicate_window: nanos(120_000),
  num_replicas: replicas,
});

/** The stream is only a transport, bounded in age and size: messages that it drops are still in the log. */
const settings = (context: Pick<StreamContext, 'stream' | 'replicas'>): Partial<StreamConfig> & { name: string } => ({
  name: context.stream,
  subjects: Object.values(subjects(context.stream)),
  retention: RetentionPolicy.Limits,
  discard: DiscardPolicy.Old,
  storage: StorageType.File,
  ...limits(context),
});

const isMissing = (error: unknown) =>
  error instanceof NatsError && (error.code === '404' || error.api_error?.code === 404);

const unlessMissing = <T>(found: Promise<T>): Promise<T | undefined> =>
  found.catch((error) => {
    if (isMissing(error)) return undefined;
    throw error;
  });

/** The message with sequence `seq`; undefined when the stream no longer has it. */
export const findMessage = (manager: JetStreamManager, stream: string, seq: number): Promise<StoredMsg | undefined> =>
  unlessMissing(manager.streams.getMessage(stream, { seq }));

/** Undefined when there is no such stream. */
export const findStream = (manager: JetStreamManager, stream: string): Promise<StreamInfo | undefined> =>
  unlessMissing(manager.streams.info(stream));

type EnsureContext = Pick<StreamContext, 'stream' | 'replicas' | 'log'>;

/** Creates the stream if it does not exist (new, or lost with its storage), and updates limits that differ from ours. */
export async function ensureStream(manager: JetStreamManager, context: EnsureContext): Promise<void> {
  const info = await findStream(manager, context.stream);
  if (info === undefined) await manager.streams.add(settings(context));
  else await updateLimits(manager, info, context);
}

async function updateLimits(
  manager: JetStreamManager,
  { config: current, cluster }: StreamInfo,
  context: EnsureContext,
): Promise<void> {
  const { stream, replicas, log } = context;
  const desired = limits(context);
  const names = Object.keys(desired) as (keyof typeof desired)[];
  const different = names.filter((name) => current[name] !== desired[name]);
  if (different.length === 0) return;
  const change = Object.fromEntries(different.map((name) => [name, { from: current[name], to: desired[name] }]));
  try {
    // A single server accepts any number of replicas and still stores one copy.
    if (replicas > 1 && cluster === undefined)
      throw new Error('NATS is a single server, but NATS_REPLICAS is greater than 1');
    await manager.streams.update(stream, { ...current, ...desired });
    log.info({ stream, ...change }, 'stream limits updated');
  } catch (error) {
    // The stream works with its current limits; the next elected relay tries again.
    log.warn({ stream, ...change, error: messageOf(error) }, 'stream limits could not be updated');
  }
}

export interface StreamEnd {
  /** The last log position in the stream; undefined when the stream is empty. */
  position: number | undefined;
  sequence: number;
}

/** The end of the stream, as its stored messages show it. */
export async function endOf(manager: JetStreamManager, stream: string): Promise<StreamEnd> {
  const { state } = await manager.streams.info(stream);
  // The messages with the last sequences may be lost: last_seq does not show that.
  for (let seq = state.last_seq; state.messages > 0 && seq >= state.first_seq; seq--) {
    const last = await findMessage(manager, stream, seq);
    if (last !== undefined) return { position: rangeOf(last.data).to, sequence: state.last_seq };
  }
  return { position: undefined, sequence: state.last_seq };
}

/** The sequence of the first message with entries after `position`, by binary search: positions increase. */
export async function sequenceAfter(manager: JetStreamManager, stream: string, position: number): Promise<number> {
  const { state } = await manager.streams.info(stream);
  // first_seq is 0 in a stream that has never had a message.
  let low = Math.max(state.first_seq, 1);
  let high = state.last_seq + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const message = await findMessage(manager, stream, middle);
    // A missing message has expired, and so have all messages before it.
    if (message === undefined || rangeOf(message.data).to <= position) low = middle + 1;
    else high = middle;
  }
  return low;
}
