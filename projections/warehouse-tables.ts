import { lineFields } from '../events/scan-line.ts';

/** Operations on the warehouse tables, which are identified by their versions. */
export interface ScanTables {
  /** The number of the schema that new tables get. */
  definition: number;
  create(version: number): Promise<void>;
  /** Updates the settings of a table, and reads which replicas there are. */
  prepare(version: number): Promise<void>;
  drop(version: number): Promise<void>;
  /** The number of rows; undefined when the table does not exist. */
  count(version: number): Promise<number | undefined>;
  /** Waits until the replica that responds has caught up with the others; rejects when it does not. */
  sync(version: number): Promise<void>;
  countOf(version: number, rows: LeavingRows): Promise<number>;
  /** Inserts rows; a second insert with the same token is ignored. */
  insert(version: number, scans: { fields: readonly string[]; lines: string }, token: string): Promise<void>;
  /** Submits the removal of rows, which ClickHouse completes in the background. */
  remove(version: number, rows: LeavingRows): Promise<void>;
}

/** Scans in the format of `events/scan-line.ts`, each line with its line break. */
export interface ScanText {
  lines: string;
  count: number;
}

/** Reads scans from the log, except scans after the deletion of their code, and scans of codes deleted up to `endedBy`. */
export type ReadScans = (piece: { after: number; to: number; endedBy: number }) => Promise<ScanText>;

export type CodeKey = [account: string, mode: string, code: string];

/** Rows to remove: all rows of codes, or the rows from before a time up to a position of the log. */
export type LeavingRows = { codes: CodeKey[] } | { before: Date; upTo: number };

/** Inserts a range of the log; the range is the token, so that a repeated insert is ignored. */
export const insertText = (
  tables: ScanTables,
  { version, position }: { version: number; position: number },
  to: number,
  { lines }: ScanText,
) => tables.insert(version, { fields: lineFields, lines }, `${version}:${position}-${to}`);
