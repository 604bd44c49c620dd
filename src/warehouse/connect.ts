import { type ClickHouseClient, createClient } from '@clickhouse/client';

export type Warehouse = ClickHouseClient;

export function connectWarehouse(url: string): Warehouse {
  return createClient({ url, application: 'scanlog', request_timeout: 30_000, max_open_connections: 16 });
}

/** Rejects when the warehouse does not answer. */
export async function pingWarehouse(warehouse: Warehouse): Promise<void> {
  const result = await warehouse.ping();
  if (!result.success) throw result.error;
}
