import type { DomainEvent } from './catalogue.ts';
import type { Recorded } from './recorded.ts';
import type { RecordedScan } from './scan.ts';

/** Anything that stands in the log. */
export type LogEntry = Recorded<DomainEvent> | RecordedScan;

/** A piece of the log without gaps: everything behind `after`, up to and with `to`. */
export interface LogRange {
  after: number;
  to: number;
  entries: LogEntry[];
}

export const isScan = (entry: LogEntry): entry is RecordedScan => entry.type === 'code_scanned';
