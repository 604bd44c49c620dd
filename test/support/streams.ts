import { inject } from 'vitest';
import { connectStream } from '../../src/stream/connect.ts';

/** NATS reserves the maximum size of each stream, so streams of finished test files must be deleted. */
export async function removeStream(name: string): Promise<void> {
  const nats = await connectStream(inject('stack').natsUrl, 'test', new AbortController().signal);
  const manager = await nats.jetstreamManager();
  // The stream does not exist if the test file relayed nothing.
  await manager.streams.delete(name).catch(() => false);
  await nats.close();
}
