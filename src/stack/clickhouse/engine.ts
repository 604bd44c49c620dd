/** The faster one first. */
export const engineNames = ['native', 'wasm'] as const;
export type EngineName = (typeof engineNames)[number];

export interface EngineResult {
  data: Uint8Array;
  /** Rows returned or, for an insert, rows inserted. */
  rows: number;
  bytes: number;
}

/** An INSERT and its rows. */
export interface RowsInsert {
  /** The statement for rows in `file`, for any format and any bytes; without `file`, the rows follow the statement. */
  sql(file?: string): string;
  format: string;
  data: Uint8Array;
}

/**
 * A connection for one query: `SET`, `USE` and query parameters stay on a connection of chdb, so a second query on it
 * would run with the settings of the first.
 */
export interface EngineConnection {
  /** Settings by which the engine finds the query of this connection, to cancel it. */
  readonly settings: Readonly<Record<string, string>>;
  run(sql: string, format: string): Promise<EngineResult>;
  /** SELECT only: chdb streams nothing else. Every chunk is a complete document of its format. */
  stream(sql: string, format: string): AsyncGenerator<Uint8Array>;
  insert(insert: RowsInsert): Promise<EngineResult>;
  /** Makes the running query and all later ones fail with QUERY_WAS_CANCELLED. */
  cancel(): void;
  close(): Promise<void>;
}

export interface Engine {
  readonly name: EngineName;
  connect(): Promise<EngineConnection>;
  close(): Promise<void>;
}
