import { isCodeEvent } from '../../events/catalogue.ts';
import type { Queryable } from '../log/connect.ts';
import { readStream } from '../log/read.ts';

/** A destination of a code, and when it took effect. */
export interface Destination {
  url: string;
  /** Number of the destination, from 1. Every scan records it. */
  revision: number;
  since: Date;
}

/** Reads every destination that a code has had from the log, oldest first. */
export async function destinationsOf(sql: Queryable, id: string): Promise<Destination[]> {
  const events = (await readStream(sql, id)).filter(isCodeEvent);
  return events.flatMap((event): Destination[] => {
    const since = event.occurred_at;
    if (event.type === 'code_created') return [{ url: event.data.destination_url, revision: 1, since }];
    if (event.type === 'destination_changed') return [{ url: event.data.to, revision: event.data.revision, since }];
    return [];
  });
}
