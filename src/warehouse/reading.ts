import { beforeAbort } from '../lib/before-abort.ts';
import type { Warehouse } from './connect.ts';
import { readFault } from './errors.ts';

/** One table of the warehouse, and until when it may be read. */
export interface Reading {
  warehouse: Warehouse;
  version: number;
  signal: AbortSignal;
}

/** Who waits this long is told to try again; the warehouse need not go on after that. */
export const readWithinMs = 10_000;

// The key has narrowed rows down already; to filter in two steps costs more than it spares.
const settings = { max_execution_time: readWithinMs / 1000, optimize_move_to_prewhere: 0 as const };

/** Rows as the query names them. Whole numbers of 64 bits come as text or not, as the version of ClickHouse has it. */
export async function rowsOf<Row>(
  { warehouse, signal }: Reading,
  query: string,
  parameters: Record<string, unknown>,
): Promise<Row[]> {
  try {
    const result = await warehouse.client.query({
      query,
      query_params: parameters,
      // A long list does not fit into an address.
      use_multipart_params_auto: true,
      format: 'JSONEachRow',
      abort_signal: signal,
      clickhouse_settings: settings,
    });
    // The client heeds a signal only until the answer begins, and an answer can stop in its middle for good.
    return await beforeAbort(signal, result.json<Row>(), () => result.close());
  } catch (error) {
    throw readFault(error);
  }
}

/** The one row of a query, as RowBinary has it, in the pieces that it came in. Read by one thread, in the query's order. */
export async function binaryOf(
  { warehouse, signal }: Reading,
  query: string,
  parameters: Record<string, unknown>,
): Promise<Buffer[]> {
  try {
    const { stream } = await warehouse.client.exec({
      query: `${query}\nFORMAT RowBinary`,
      query_params: parameters,
      abort_signal: signal,
      // The row's length is checked, so an answer that breaks off is noticed without the server holding it back.
      clickhouse_settings: { ...settings, max_threads: 1, wait_end_of_query: 0 },
    });
    return await beforeAbort(signal, stream.toArray(), () => stream.destroy());
  } catch (error) {
    throw readFault(error);
  }
}
