import { inject } from 'vitest';
import { connectStream } from '../../src/stream/connect.ts';

/** NATS sets aside what a stream may come to need: those of files that are done must not use up its room. */
export async function removeStream(name: string): Promise<void> {
  const nats = await connectStream(inject('stack').natsUrl, 'test', new AbortController().signal);
  const manager = await nats.jetstreamManager();
  // A file that never relayed anything has none.
  await manager.streams.delete(name).catch(() => false);
  await nats.close();
}
