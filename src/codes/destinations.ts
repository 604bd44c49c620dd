import { isCodeEvent, type StoredEvent } from '../../events/catalogue.ts';
import { type Code, evolveCode } from '../../events/code.ts';
import type { Recorded } from '../../events/recorded.ts';
import { fallbackId } from '../../events/targeting/resolver.ts';
import type { Queryable } from '../lib/sql.ts';
import { readStream, readStreams } from '../log/read.ts';

/** A URL that a code has led to, by its own destination, a rule, a variant or the fallback, and from when to when. */
export interface Destination {
  url: string;
  /** Number of the destination of the code itself, from 1. Every scan records it. */
  revision: number;
  /** As scans record it: undefined for the destination of the code, and `fallbackId` for the fallback. */
  rule: string | undefined;
  variant: string | undefined;
  since: Date;
  /** undefined for what is set now. */
  until: Date | undefined;
}

/** Reads every URL that a code has led to from the log, oldest first. */
export const destinationsOf = async (sql: Queryable, id: string): Promise<Destination[]> =>
  destinationsIn(await readStream(sql, id));

/** Like `destinationsOf`, for several codes, by code. */
export async function destinationsOfCodes(sql: Queryable, ids: string[]): Promise<Map<string, Destination[]>> {
  const streams = ids.map((stream) => ({ stream, since: 1 }));
  const events = await readStreams(sql, streams, Number.MAX_SAFE_INTEGER);
  const byCode = Map.groupBy(events, ({ stream }) => stream);
  return new Map([...byCode].map(([code, ofCode]) => [code, destinationsIn(ofCode)]));
}

function destinationsIn(events: Recorded<StoredEvent>[]): Destination[] {
  const all = new Map<string, Destination>();
  let code: Code | undefined;
  for (const event of events.filter(isCodeEvent)) {
    code = evolveCode(code, event);
    const current = new Set<string>();
    for (const destination of currentDestinations(code)) {
      const key = JSON.stringify([destination.revision, destination.rule, destination.variant]);
      current.add(key);
      const known = all.get(key);
      if (known === undefined) all.set(key, { ...destination, since: event.occurred_at, until: undefined });
      // The same fallback was set again.
      else known.until = undefined;
    }
    for (const [key, known] of all) if (!current.has(key)) known.until ??= event.occurred_at;
  }
  return [...all.values()];
}

type CurrentDestination = Omit<Destination, 'since' | 'until'>;

/** Where a code can lead at present. */
function currentDestinations(code: Code): CurrentDestination[] {
  const { destination_url, destination_revision: revision, rules, fallback_url } = code;
  const none = { rule: undefined, variant: undefined };
  return [
    { url: destination_url, revision, ...none },
    ...(rules ?? []).flatMap((rule): CurrentDestination[] =>
      'split' in rule
        ? rule.split.map(({ id, destination_url: url }) => ({ url, revision, rule: rule.id, variant: id }))
        : [{ url: rule.destination_url, revision, rule: rule.id, variant: undefined }],
    ),
    ...(fallback_url === null ? [] : [{ url: fallback_url, revision, ...none, rule: fallbackId(fallback_url) }]),
  ];
}
