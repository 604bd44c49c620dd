import { beforeAbort } from '../lib/before-abort.ts';
import { timeouts } from '../lib/timeouts.ts';
import type { Warehouse } from './connect.ts';
import { classifyReadError } from './errors.ts';

/** A table of the warehouse, and the signal that ends reads of it. */
export interface Reading {
  warehouse: Warehouse;
  version: number;
  /** The number of the table's definition, if it may be older than the newest: it then has fewer columns. */
  definition?: number;
  signal: AbortSignal;
}

/** The first definition with the columns `rule` and `variant`. */
const rulesSince = 2;

/** Whether the table has the columns `rule` and `variant`. An upgrade fills a new table while the old one is read. */
export const hasRules = ({ definition = rulesSince }: Reading): boolean => definition >= rulesSince;

// The primary key already selects few rows; filtering in two steps costs more than it saves.
const settings = () => ({ max_execution_time: timeouts.analyticsReadMs / 1000, optimize_move_to_prewhere: 0 as const });

/**
 * Starts a request that ends with its signal. The client misses a signal that aborted before the request has a socket, and
 * would then wait for the response as long as ClickHouse needs.
 */
async function observed<T>(signal: AbortSignal, start: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  return beforeAbort(signal, start());
}

/** The rows of a query. Depending on the version of ClickHouse, 64-bit integers are strings or numbers. */
export async function rowsOf<Row>(
  { warehouse, signal }: Reading,
  query: string,
  parameters: Record<string, unknown>,
): Promise<Row[]> {
  try {
    const result = await observed(signal, () =>
      warehouse.client.query({
        query,
        query_params: parameters,
        // A long list does not fit into a URL.
        use_multipart_params_auto: true,
        format: 'JSONEachRow',
        abort_signal: signal,
        clickhouse_settings: settings(),
      }),
    );
    // The client observes the signal only until the response starts, and a response can stall after that.
    return await beforeAbort(signal, result.json<Row>(), () => result.close());
  } catch (error) {
    throw classifyReadError(error);
  }
}

/** The single row of a query in RowBinary, in the chunks that arrived. Runs on one thread, which keeps the row order. */
export async function binaryOf(
  { warehouse, signal }: Reading,
  query: string,
  parameters: Record<string, unknown>,
): Promise<Buffer[]> {
  try {
    const { stream } = await observed(signal, () =>
      warehouse.client.exec({
        query: `${query}\nFORMAT RowBinary`,
        query_params: parameters,
        abort_signal: signal,
        // The caller checks the length of the row, so a truncated response is detected without buffering on the server.
        clickhouse_settings: { ...settings(), max_threads: 1, wait_end_of_query: 0 },
      }),
    );
    return await beforeAbort(signal, stream.toArray(), () => stream.destroy());
  } catch (error) {
    throw classifyReadError(error);
  }
}
