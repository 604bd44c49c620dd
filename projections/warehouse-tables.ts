import { lineFields } from '../events/scan-line.ts';

/** The tables of the warehouse, by their versions. */
export interface ScanTables {
  /** Which shape new ones have. */
  definition: number;
  create(version: number): Promise<void>;
  /** Brings the settings of a table, and what is known of its replicas, up to date. */
  prepare(version: number): Promise<void>;
  drop(version: number): Promise<void>;
  /** Rows of a table; undefined when there is no such table. */
  count(version: number): Promise<number | undefined>;
  /** Waits until the replica that answers has what the others have; rejects when it does not catch up. */
  sync(version: number): Promise<void>;
  countOf(version: number, rows: LeavingRows): Promise<number>;
  /** Adds rows, once for each token. */
  insert(version: number, scans: { fields: readonly string[]; lines: string }, token: string): Promise<void>;
  /** Submits the removal of rows, which then leave in the background. */
  remove(version: number, rows: LeavingRows): Promise<void>;
}

/** Scans as lines of `events/scan-line.ts`, each with its line break. */
export interface ScanText {
  lines: string;
  count: number;
}

/** Scans straight from the log, without those that come behind the end of their code or of codes ended by `endedBy`. */
export type ReadScans = (piece: { after: number; to: number; endedBy: number }) => Promise<ScanText>;

export type CodeKey = [account: string, mode: string, code: string];

/** Rows that leave a table together: those of codes, or those of before a time up to a position of the log. */
export type LeavingRows = { codes: CodeKey[] } | { before: Date; upTo: number };

/** The range it covers is its token, so that it is known when it comes again. */
export const insertText = (
  tables: ScanTables,
  { version, position }: { version: number; position: number },
  to: number,
  { lines }: ScanText,
) => tables.insert(version, { fields: lineFields, lines }, `${version}:${position}-${to}`);
