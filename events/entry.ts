import type { StoredEvent } from './catalogue.ts';
import type { Recorded } from './recorded.ts';
import type { ScanLine } from './scan-line.ts';

/** Something that happened to a code or an account. */
export type Change = Recorded<StoredEvent>;

/** Anything that stands in the log. */
export type LogEntry = Change | ScanLine;

/** A piece of the log without gaps: everything behind `after`, up to and with `to`. */
export interface LogRange {
  after: number;
  to: number;
  entries: LogEntry[];
}

export const isScan = (entry: LogEntry): entry is ScanLine => entry.type === 'code_scanned';
