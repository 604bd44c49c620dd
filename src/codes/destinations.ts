import { isCodeEvent } from '../../events/catalogue.ts';
import { type Code, evolveCode } from '../../events/code.ts';
import type { CodeEvent } from '../../events/code-events.ts';
import type { Recorded } from '../../events/recorded.ts';
import { fallbackId } from '../../events/targeting/resolver.ts';
import { accountTurn } from '../lib/account-turns.ts';
import { retryLater } from '../lib/errors.ts';
import { EvenSteps } from '../lib/even-steps.ts';
import { QueueFull, SemaphorePerKey } from '../lib/semaphore.ts';
import type { Queryable } from '../lib/sql.ts';
import { readStreamPart, readStreams } from '../log/read.ts';

/** One of the places that a code has led to, as scans record it. */
export interface Lead {
  url: string;
  /** Number of the destination of the code itself, from 1. Every scan records it. */
  revision: number;
  /** undefined for the destination of the code, and `fallbackId` for the fallback. */
  rule: string | undefined;
  variant: string | undefined;
}

/** A URL that a code has led to, by its own destination, a rule, a variant or the fallback, and from when to when. */
export interface Destination extends Lead {
  since: Date;
  /** undefined for what is set now. */
  until: Date | undefined;
}

/** Events that change where a code leads. */
const types = [
  'code_created',
  'destination_changed',
  'rules_changed',
  'fallback_changed',
] as const satisfies CodeEvent['type'][];
/** Two or three changes of long rules, or 500 small changes. */
const maxBytes = 1024 * 1024;
/** Past destinations of a code itself that are listed without scans: a script can have set 100,000. */
const maxPastWithoutScans = 1_000;

/** Histories of one account that are read at a time: if all of its requests read at once, none would end in time. */
const histories = new SemaphorePerKey(1, 64);

/**
 * The URLs that a code has led to, oldest first: its own, those of now, and those that `hasScans`. Of its own past ones without scans
 * only the newest. Throws a refusal with `Retry-After` when the signal aborts.
 */
export const destinationsOf = (
  sql: Queryable,
  code: Code,
  hasScans: (lead: Lead) => boolean,
  signal: AbortSignal,
): Promise<Destination[]> =>
  histories
    .run(code.account, () => readDestinations(sql, code, hasScans, signal), signal)
    .catch((error) => {
      throw signal.aborted || error instanceof QueueFull ? tooLong() : error;
    });

const tooLong = () =>
  retryLater('The history of the code takes too long to read right now: try again in a few seconds.');

async function readDestinations(
  sql: Queryable,
  code: Code,
  hasScans: (lead: Lead) => boolean,
  signal: AbortSignal,
): Promise<Destination[]> {
  const found = new Map<string, Destination>();
  const present = new Set(leadsOf(code).map(keyOf));
  const withoutScans: string[] = [];
  let before = new Set<string>();
  for await (const states of statesOf(sql, code, signal))
    for (const { leads, at } of states) {
      const current = new Set<string>();
      for (const lead of leads) {
        const key = keyOf(lead);
        current.add(key);
        const known = found.get(key);
        // The same fallback was set again, or the rules of an earlier version.
        if (known !== undefined) known.until = undefined;
        else if (hasScans(lead) || present.has(key)) found.set(key, { ...lead, since: at, until: undefined });
        else if (lead.rule === undefined) {
          found.set(key, { ...lead, since: at, until: undefined });
          if (withoutScans.push(key) > maxPastWithoutScans) found.delete(withoutScans.shift() ?? '');
        }
      }
      for (const key of before) {
        const known = current.has(key) ? undefined : found.get(key);
        if (known !== undefined) known.until ??= at;
      }
      before = current;
    }
  return [...found.values()];
}

/** Calls `onLead` with every place that a code has led to, some of them several times. */
export async function eachLead(
  sql: Queryable,
  code: Pick<Code, 'account' | 'id'>,
  onLead: (lead: Lead) => void,
): Promise<void> {
  for await (const states of statesOf(sql, code)) for (const { leads } of states) leads.forEach(onLead);
}

/** The places that codes have led to, by code; undefined for a code with more of them than fit in memory, for `eachLead`. */
export async function leadsOfCodes(sql: Queryable, ids: readonly string[]): Promise<Map<string, Lead[] | undefined>> {
  const found = new Map<string, Lead[] | undefined>();
  for (let waiting = ids; waiting.length > 0; waiting = waiting.filter((id) => !found.has(id))) {
    const { events, isCut } = await readStreams(sql, waiting, { types, maxBytes });
    const byCode = [...Map.groupBy(events.filter(isCodeEvent), ({ stream }) => stream)];
    const whole = isCut ? byCode.slice(0, -1) : byCode;
    for (const [id, ofCode] of whole)
      found.set(
        id,
        new States().after(ofCode).flatMap(({ leads }) => leads),
      );
    if (!isCut) return found;
    const [first] = byCode;
    if (whole.length === 0 && first !== undefined) found.set(first[0], undefined);
  }
  return found;
}

interface State {
  leads: Lead[];
  at: Date;
}

/** Where a code led after each of its events. */
class States {
  #code: Code | undefined;

  after(events: Recorded<CodeEvent>[]): State[] {
    return events.map((event) => {
      this.#code = evolveCode(this.#code, event);
      return { leads: leadsOf(this.#code), at: event.occurred_at };
    });
  }
}

/** All states of a code, oldest first, in parts. */
async function* statesOf(
  sql: Queryable,
  { account, id }: Pick<Code, 'account' | 'id'>,
  signal?: AbortSignal,
): AsyncGenerator<State[]> {
  const states = new States();
  const steps = new EvenSteps();
  for (let after = 0, isCut = true; isCut; ) {
    const part = await steps.run(() => accountTurn(account, () => readStreamPart(sql, id, { after, types, maxBytes })));
    signal?.throwIfAborted();
    yield states.after(part.events.filter(isCodeEvent));
    after = part.events.at(-1)?.position ?? after;
    isCut = part.isCut;
  }
}

const keyOf = ({ revision, rule, variant }: Lead) => JSON.stringify([revision, rule, variant]);

/** Where a code can lead at present. */
function leadsOf(code: Code): Lead[] {
  const { destination_url, destination_revision: revision, rules, fallback_url } = code;
  const none = { rule: undefined, variant: undefined };
  return [
    { url: destination_url, revision, ...none },
    ...(rules ?? []).flatMap((rule): Lead[] =>
      'split' in rule
        ? rule.split.map(({ id, destination_url: url }) => ({ url, revision, rule: rule.id, variant: id }))
        : [{ url: rule.destination_url, revision, rule: rule.id, variant: undefined }],
    ),
    ...(fallback_url === null ? [] : [{ url: fallback_url, revision, ...none, rule: fallbackId(fallback_url) }]),
  ];
}
