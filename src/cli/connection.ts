import { type Config, readConfig } from '../config.ts';
import { messageOf, StartError } from '../lib/errors.ts';
import { createLogger } from '../lib/logger.ts';
import { createSecretBox, type SecretBox } from '../lib/secret-box.ts';
import { connect, type Sql } from '../log/connect.ts';
import { migrate } from '../log/migrate.ts';
import { isKeyOfDatabase } from '../log/secret-key.ts';
import { findRunning, lockDataDirectory, openDataDirectory, storedSecrets } from '../stack/data-directory.ts';
import { startPostgres } from '../stack/stack.ts';
import { connectWarehouse, pingWarehouse, type Warehouse } from '../warehouse/connect.ts';
import { untilAskedToStop } from './stopping.ts';

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

/** The SECRET_KEY of the environment, otherwise the one that `up` keeps in `data`, otherwise undefined. */
export const findSecretKey = (data: string): string | undefined =>
  readConfig(process.env).secretKey ?? storedSecrets(data).secretKey;

/** Throws while the folder has two keys, of which only `./scanlog secret rotate` finds out which one the database has. */
export function refuseInterrupted(data: string): void {
  if (storedSecrets(data).nextSecretKey === undefined) return;
  throw new StartError(
    `A rotation of the key in ${data}/secrets.json was interrupted: run ./scanlog secret rotate again.`,
  );
}

/** The box of the key that the database is used with. */
export async function boxOf(sql: Sql, data: string): Promise<SecretBox> {
  const secretKey = findSecretKey(data);
  if (secretKey === undefined)
    throw new StartError(
      'SECRET_KEY is not set, which visitor keys are encrypted with: set it to the one of the service.',
    );
  const box = createSecretBox(secretKey);
  if (!(await isKeyOfDatabase(sql, box)))
    throw new StartError('SECRET_KEY is not the one of this database: set it to the one of the service.');
  return box;
}

export const notFound = (data: string, variables: string) =>
  new StartError(
    `No running Scanlog was found at ${data}: start ./scanlog up, or name its --data, or set ${variables}.`,
  );

/** Runs one command against the database, brought up to date first. */
export async function withDatabase<T>(data: string, use: (sql: Sql) => Promise<T>): Promise<T> {
  const { databaseUrl } = findConfig(data);
  if (databaseUrl === undefined) throw notFound(data, 'DATABASE_URL');
  return connected(databaseUrl, async (sql) => {
    await migrate(sql);
    return use(sql);
  });
}

async function connected<T>(databaseUrl: string, use: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = connect(databaseUrl, { max: 8, name: 'scanlog-cli', answerTimeoutMs: 'none' });
  try {
    return await use(sql);
  } finally {
    await sql.end({ timeout: 2 });
  }
}

/** The database as it is; that of a folder on which nothing runs has its Postgres started for as long as it takes. */
export async function withStoredDatabase<T>(data: string, use: (sql: Sql) => Promise<T>): Promise<T> {
  const { databaseUrl, logLevel } = findConfig(data);
  // Postgres must not be left behind, nor half a file.
  const stopped = untilAskedToStop().then(() => {
    throw new StartError('Stopped before it was done: nothing has changed.');
  });
  stopped.catch(() => {});
  const useUntilStopped = (sql: Sql) => Promise.race([use(sql), stopped]);
  if (databaseUrl !== undefined) return connected(databaseUrl, useUntilStopped);
  const folder = openDataDirectory(data);
  const unlock = lockDataDirectory(folder);
  try {
    const postgres = await startPostgres({ data: folder, log: createLogger(logLevel) });
    try {
      return await connected(postgres.databaseUrl, useUntilStopped);
    } finally {
      await postgres.stop();
    }
  } finally {
    unlock();
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
