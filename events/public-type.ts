import type { Static, TObject } from '@sinclair/typebox';
import type { LogEntry } from './entry.ts';

export type EntryType = LogEntry['type'];
export type EntryOf<T extends EntryType> = Extract<LogEntry, { type: T }>;

interface Definition<T extends EntryType, D extends TObject> {
  /** What happened, for the API's documentation. */
  summary: string;
  /** Types of the log entries that it shows. Each belongs to one public type at most. */
  entries: readonly T[];
  /** The schema of `data`. */
  data: D;
  dataOf(entry: EntryOf<T>): Static<D>;
}

/** Defines one type of events that the owner of an account sees. */
export const define = <const T extends EntryType, D extends TObject>(type: Definition<T, D>): Definition<T, D> => type;

export const exact = { additionalProperties: false };
