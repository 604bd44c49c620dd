import { type Config, readConfig } from '../config.ts';
import { messageOf, StartError } from '../lib/errors.ts';
import { connect, type Sql } from '../log/connect.ts';
import { migrate } from '../log/migrate.ts';
import { findRunning } from '../stack/data-directory.ts';
import { connectWarehouse, pingWarehouse, type Warehouse } from '../warehouse/connect.ts';

/** The settings of a command, with the addresses of an `up` that runs on `data` where the environment has none. */
export function findConfig(data: string): Config {
  const config = readConfig(process.env);
  const running = findRunning(data);
  return {
    ...config,
    databaseUrl: config.databaseUrl ?? running?.databaseUrl,
    natsUrl: config.natsUrl ?? running?.natsUrl,
    clickhouseUrl: config.clickhouseUrl ?? running?.clickhouseUrl,
  };
}

const notFound = (data: string, variables: string) =>
  new StartError(
    `No running Scanlog was found at ${data}: start ./scanlog up, or name its --data, or set ${variables}.`,
  );

/** Runs one command against the database, brought up to date first. */
export async function withDatabase<T>(data: string, use: (sql: Sql) => Promise<T>): Promise<T> {
  const { databaseUrl } = findConfig(data);
  if (databaseUrl === undefined) throw notFound(data, 'DATABASE_URL');
  const sql = connect(databaseUrl, { max: 8, name: 'scanlog-cli' });
  try {
    await migrate(sql);
    return await use(sql);
  } finally {
    await sql.end({ timeout: 2 });
  }
}

/** The same with ClickHouse beside the database. */
export async function withWarehouse<T>(
  data: string,
  use: (parts: { sql: Sql; warehouse: Warehouse }) => Promise<T>,
): Promise<T> {
  const config = findConfig(data);
  const { clickhouseUrl } = config;
  if (clickhouseUrl === undefined) throw notFound(data, 'DATABASE_URL and CLICKHOUSE_URL');
  const warehouse = connectWarehouse({ ...config, clickhouseUrl });
  try {
    await pingWarehouse(warehouse).catch((error) => {
      throw new StartError(`ClickHouse does not answer: ${messageOf(error)}`);
    });
    return await withDatabase(data, (sql) => use({ sql, warehouse }));
  } finally {
    await warehouse.client.close();
  }
}
