import { expect } from 'vitest';
import { eventStream, type FeedMessage } from '../../bench/event-stream.ts';
import { Feed } from '../../src/feed/feed.ts';
import { createLogger } from '../../src/lib/logger.ts';
import type { Sql } from '../../src/lib/sql.ts';
import { eventually } from './eventually.ts';

/** A feed that does not follow NATS, for tests that do not test feeds. */
export const idleFeed = (sql: Sql) =>
  new Feed({
    sql,
    stream: () => undefined,
    stopping: new AbortController().signal,
    log: createLogger('silent', false),
    maxStreams: 25,
  });

/** Collects the messages of a stream in the background. */
export function followFeed(url: string, options: { key: string; query?: string; lastEventId?: string }) {
  const messages: FeedMessage[] = [];
  const stopping = new AbortController();
  const ended = (async () => {
    const stream = eventStream(url, { ...options, signal: stopping.signal });
    for await (const message of stream) messages.push(message);
  })().catch((error) => {
    if (!stopping.signal.aborted) throw error;
  });
  return {
    messages,
    /** Resolves when the service ends the stream; rejects if it is refused or broken. */
    ended,
    has: (count: number) => eventually(() => expect(messages.length).toBeGreaterThanOrEqual(count)),
    stop: async () => {
      stopping.abort();
      await ended;
    },
  };
}
