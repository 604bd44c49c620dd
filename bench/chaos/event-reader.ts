import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '../../src/lib/sql.ts';
import { eventStream } from '../event-stream.ts';

/** Longer than the interval of heartbeats: a stream that is silent for this long is broken. */
const silenceMs = 20_000;
const retryMs = 200;

/** What a reader of the event feed has received, compared with the log. */
export interface FeedAccounting {
  /** Scans in the log. */
  scans: number;
  missing: number;
  repeated: number;
  /** Whether those received are in the order of the log. */
  inOrder: boolean;
  /** How often the reader connected. */
  connections: number;
}

export interface EventReader {
  /** Ids of the scans that it has received. */
  readonly received: string[];
  connections(): number;
  stop(): Promise<void>;
}

/** Follows the scans of an account by server-sent events, at one service after the other, from the beginning of the log. */
export function startEventReader(ports: number[], key: string): EventReader {
  const received: string[] = [];
  const stopping = new AbortController();
  let lastEventId: string | undefined;
  let connections = 0;

  async function readOnce(): Promise<void> {
    const url = `http://127.0.0.1:${ports[connections++ % ports.length]}`;
    const silent = new AbortController();
    let timer = setTimeout(() => silent.abort(), silenceMs);
    const onPiece = () => {
      clearTimeout(timer);
      timer = setTimeout(() => silent.abort(), silenceMs);
    };
    const signal = AbortSignal.any([stopping.signal, silent.signal]);
    try {
      for await (const { id, event } of eventStream(url, {
        key,
        query: 'types=scan.created',
        lastEventId,
        signal,
        onPiece,
      })) {
        received.push(event.data['id'] as string);
        lastEventId = id;
      }
    } finally {
      clearTimeout(timer);
    }
  }

  const reading = (async () => {
    while (!stopping.signal.aborted) {
      // A service that is down, starting or without its database refuses the stream, or cuts it off.
      await readOnce().catch(() => {});
      await sleep(retryMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  })();

  return {
    received,
    connections: () => connections,
    async stop() {
      stopping.abort();
      await reading;
    },
  };
}

export async function accountForFeed(sql: Sql, reader: EventReader): Promise<FeedAccounting> {
  const received = [...reader.received];
  const logged = await sql<{ id: string }[]>`SELECT id FROM scans ORDER BY position`;
  const [inLog, inFeed] = [new Set(logged.map(({ id }) => id)), new Set(received)];
  const inBoth = logged.map(({ id }) => id).filter((id) => inFeed.has(id));
  const firstTimes = [...inFeed].filter((id) => inLog.has(id));
  return {
    scans: logged.length,
    missing: logged.length - inBoth.length,
    repeated: received.length - inFeed.size,
    inOrder: inBoth.every((id, i) => id === firstTimes[i]),
    connections: reader.connections(),
  };
}
