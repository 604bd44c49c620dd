/** The faster one first. */
export const engineNames = ['native', 'wasm'] as const;
export type EngineName = (typeof engineNames)[number];

export interface EngineResult {
  data: Uint8Array;
  /** Rows returned or, for an insert, rows that came in. */
  rows: number;
  bytes: number;
}

/** An INSERT and its rows. */
export interface RowsInsert {
  /** The statement for rows in a file, where both engines take any format and any byte; without one they follow it. */
  sql(file?: string): string;
  format: string;
  data: Uint8Array;
}

/**
 * What one query runs on, and nothing after it: `SET`, `USE` and query parameters stick to a connection of chdb, so
 * only a connection of its own keeps a query's settings from the next one.
 */
export interface EngineConnection {
  /** Settings the engine needs to find this connection's query again. */
  readonly settings: Readonly<Record<string, string>>;
  run(sql: string, format: string): Promise<EngineResult>;
  /** SELECT only: chdb streams nothing else. Every chunk is a complete document of its format. */
  stream(sql: string, format: string): AsyncGenerator<Uint8Array>;
  insert(insert: RowsInsert): Promise<EngineResult>;
  /** Makes what runs now, and whatever follows, end soon with QUERY_WAS_CANCELLED. */
  cancel(): void;
  close(): Promise<void>;
}

export interface Engine {
  readonly name: EngineName;
  connect(): Promise<EngineConnection>;
  close(): Promise<void>;
}
