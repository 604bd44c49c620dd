import type { StoredEvent } from './catalogue.ts';
import type { Recorded } from './recorded.ts';
import type { ScanLine } from './scan-line.ts';

/** A recorded event other than a scan. */
export type Change = Recorded<StoredEvent>;

/** Any entry of the log. */
export type LogEntry = Change | ScanLine;

/** A contiguous part of the log: all entries after position `after`, up to and including `to`. */
export interface LogRange {
  after: number;
  to: number;
  entries: LogEntry[];
}

export const isScan = (entry: LogEntry): entry is ScanLine => entry.type === 'code_scanned';
