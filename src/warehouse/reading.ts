import type { Warehouse } from './connect.ts';

/** One table of the warehouse, and until when it may be read. */
export interface Reading {
  warehouse: Warehouse;
  version: number;
  signal: AbortSignal;
}

/** Who waits this long is told to try again; the warehouse need not go on after that. */
export const readWithinMs = 5_000;

export const readSettings = { max_execution_time: readWithinMs / 1000 };

/** Rows as the query names them. Whole numbers of 64 bits come as text or not, as the version of ClickHouse has it. */
export async function rowsOf<Row>(
  { warehouse, signal }: Reading,
  query: string,
  parameters: Record<string, unknown>,
): Promise<Row[]> {
  const result = await warehouse.client.query({
    query,
    query_params: parameters,
    // A long list does not fit into an address.
    use_multipart_params_auto: true,
    format: 'JSONEachRow',
    abort_signal: signal,
    clickhouse_settings: readSettings,
  });
  return result.json<Row>();
}
