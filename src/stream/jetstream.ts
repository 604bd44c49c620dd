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

const day = 24 * 60 * 60 * 1000;

/** What may differ on an existing stream: an older version, or other settings, made it. */
const limits = ({ replicas }: Pick<StreamContext, 'replicas'>) => ({
  max_age: nanos(2 * day),
  max_bytes: 1024 * 1024 * 1024,
  duplicate_window: nanos(120_000),
  num_replicas: replicas,
});

/** A stream is a transport: bounded in age and size. What falls out of it is still in the log. */
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

/** The stored message of this sequence, unless it is gone. */
export const findMessage = (manager: JetStreamManager, stream: string, seq: number): Promise<StoredMsg | undefined> =>
  unlessMissing(manager.streams.getMessage(stream, { seq }));

type EnsureContext = Pick<StreamContext, 'stream' | 'replicas' | 'log'>;

/** Creates the stream when it is missing (new, or lost with its storage), and updates limits that differ from ours. */
export async function ensureStream(manager: JetStreamManager, context: EnsureContext): Promise<void> {
  const info = await unlessMissing(manager.streams.info(context.stream));
  if (info === undefined) await manager.streams.add(settings(context));
  else await updateLimits(manager, info, context);
}

async function updateLimits(
  manager: JetStreamManager,
  { config: current, cluster }: StreamInfo,
  context: EnsureContext,
): Promise<void> {
  const { stream, replicas, log } = context;
  const wanted = limits(context);
  const names = Object.keys(wanted) as (keyof typeof wanted)[];
  const different = names.filter((name) => current[name] !== wanted[name]);
  if (different.length === 0) return;
  const change = Object.fromEntries(different.map((name) => [name, { from: current[name], to: wanted[name] }]));
  try {
    // A single server takes the number, and stores one copy all the same.
    if (replicas > 1 && cluster === undefined) throw new Error('NATS is not a cluster, and NATS_REPLICAS is not 1');
    await manager.streams.update(stream, { ...current, ...wanted });
    log.info({ stream, ...change }, 'stream limits updated');
  } catch (error) {
    // The stream works as it is; the next relay tries again.
    log.warn({ stream, ...change, error: messageOf(error) }, 'stream limits could not be updated');
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
    if (last !== undefined) return { position: rangeOf(last.data).to, sequence: state.last_seq };
  }
  return { position: undefined, sequence: state.last_seq };
}

/** The sequence of the first message with entries after `position`, by binary search: positions increase. */
export async function sequenceAfter(manager: JetStreamManager, stream: string, position: number): Promise<number> {
  const { state } = await manager.streams.info(stream);
  // Of a stream that has never had a message it is 0.
  let low = Math.max(state.first_seq, 1);
  let high = state.last_seq + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const message = await unlessMissing(manager.streams.getMessage(stream, { seq: middle }));
    // One that has just fallen out of the stream is old.
    if (message === undefined || rangeOf(message.data).to <= position) low = middle + 1;
    else high = middle;
  }
  return low;
}
