import { isCodeEvent } from '../../events/catalogue.ts';
import type { Queryable } from '../log/connect.ts';
import { readStream } from '../log/read.ts';

/** Where a code led, and since when. */
export interface Destination {
  url: string;
  /** Counts the destinations of a code, from 1. Every scan carries it. */
  revision: number;
  since: Date;
}

/** Every destination that a code has had, from the log, the oldest first. */
export async function destinationsOf(sql: Queryable, id: string): Promise<Destination[]> {
  const events = (await readStream(sql, id)).filter(isCodeEvent);
  return events.flatMap((event): Destination[] => {
    const since = event.occurred_at;
    if (event.type === 'code_created') return [{ url: event.data.destination_url, revision: 1, since }];
    if (event.type === 'destination_changed') return [{ url: event.data.to, revision: event.data.revision, since }];
    return [];
  });
}
