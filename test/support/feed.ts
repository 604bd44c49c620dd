import { Feed } from '../../src/feed/feed.ts';
import { createLogger } from '../../src/lib/logger.ts';
import type { Sql } from '../../src/log/connect.ts';

/** A feed that does not follow NATS, for tests that do not test feeds. */
export const idleFeed = (sql: Sql) =>
  new Feed({
    sql,
    stream: () => undefined,
    stopping: new AbortController().signal,
    log: createLogger('silent', false),
  });
