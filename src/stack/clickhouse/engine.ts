/** The faster one first. */
export const engineNames = ['native', 'wasm'] as const;
export type EngineName = (typeof engineNames)[number];

/** An INSERT whose rows are sent beside it. */
export interface RowsInsert {
  /** The statement up to the name of the format, and that name. */
  into: string;
  format: string;
  rows: Buffer;
}

/** `SET` and query parameters stay on a connection of chdb, and apply to every later statement on it. */
export interface EngineConnection {
  /** What the engine needs to be set on this connection, whatever a statement asks for. */
  readonly settings: Readonly<Record<string, string>>;
  /** The result in the format that the statement names, or tab-separated. */
  run(sql: string): Promise<Uint8Array>;
  insert(insert: RowsInsert): Promise<void>;
  /** Makes the running statement and all later ones fail with QUERY_WAS_CANCELLED. */
  cancel(): void;
  close(): Promise<void>;
}

export interface Engine {
  connect(): Promise<EngineConnection>;
  close(): Promise<void>;
}
