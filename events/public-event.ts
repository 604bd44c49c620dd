import type { TObject } from '@sinclair/typebox';
import { isCodeEvent } from './catalogue.ts';
import { isScan, type LogEntry } from './entry.ts';
import type { Owner } from './owner.ts';
import type { Mode } from './plans.ts';
import type { EntryType } from './public-type.ts';
import { type PublicType, publicTypes } from './public-types.ts';

/** An entry of the log as its owner sees it. */
export interface PublicEvent {
  /** `evt_…`: derived from the id of the entry, so that it is the same whenever it is read. */
  id: string;
  type: PublicType;
  timestamp: Date;
  /** The id of a key or person, `operator`, `scanlog` for the service itself, or `visitor` for a scan. */
  actor: string;
  /** The code that it is about; undefined for events of the account. */
  qr_id: string | undefined;
  data: object;
}

/** The actor of a scan. */
export const visitorActor = 'visitor';

interface AnyType {
  entries: readonly EntryType[];
  data: TObject;
  dataOf(entry: LogEntry): object;
}

const byEntryType = new Map<string, { type: PublicType; dataOf(entry: LogEntry): object }>();
for (const [name, definition] of Object.entries(publicTypes)) {
  const type = name as PublicType;
  const { entries, dataOf } = definition as unknown as AnyType;
  for (const entryType of entries) {
    const other = byEntryType.get(entryType)?.type;
    if (other !== undefined) throw new Error(`${entryType} is shown as ${other} and as ${type}: choose one`);
    byEntryType.set(entryType, { type, dataOf });
  }
}

/** The public type of a type of log entries; undefined if no owner sees them. */
export const publicTypeOf = (entryType: string): PublicType | undefined => byEntryType.get(entryType)?.type;

/** @example eventId('scan_0VMOcq2hE3kx0dTtWq8LbY') // 'evt_0VMOcq2hE3kx0dTtWq8LbY' */
export const eventId = (entryId: string) => `evt_${entryId.slice(entryId.indexOf('_') + 1)}`;

/** The entry as its owner sees it; undefined if no owner does. */
export function publicEventOf(entry: LogEntry): PublicEvent | undefined {
  const shown = byEntryType.get(entry.type);
  if (shown === undefined) return undefined;
  return {
    id: eventId(entry.id),
    type: shown.type,
    timestamp: entry.occurred_at,
    actor: isScan(entry) ? visitorActor : entry.actor,
    qr_id: codeOf(entry),
    data: shown.dataOf(entry),
  };
}

function codeOf(entry: LogEntry): string | undefined {
  if (isScan(entry)) return entry.code;
  return isCodeEvent(entry) ? entry.stream : undefined;
}

/**
 * Who sees an entry, as far as the entry names it: an account and mode; the owner of a code; keys of the mode of `key`;
 * or, without a mode, the account as a whole, which its live keys see.
 */
export type Audience =
  | ({ kind: 'owner' } & Owner)
  | { kind: 'code'; code: string }
  | { kind: 'key'; account: string; key: string }
  | { kind: 'account'; account: string }
  | { kind: 'none' };

export function audienceOf(entry: LogEntry): Audience {
  if (isScan(entry)) return { kind: 'owner', account: entry.account, mode: entry.mode };
  if (publicTypeOf(entry.type) === undefined) return { kind: 'none' };
  if (entry.type === 'code_created') return { kind: 'owner', account: entry.data.account, mode: entry.data.mode };
  if (isCodeEvent(entry)) return { kind: 'code', code: entry.stream };
  if (entry.type === 'key_revoked') return { kind: 'key', account: entry.stream, key: entry.data.key };
  const { mode } = entry.data as { mode?: Mode };
  return mode === undefined
    ? { kind: 'account', account: entry.stream }
    : { kind: 'owner', account: entry.stream, mode };
}
