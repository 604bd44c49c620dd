import { connectWarehouse, pingWarehouse, type Warehouse } from '../analytics/connect.ts';
import { addressesOf, type Config, readConfig } from '../config/config.ts';
import { commandConnection } from '../lib/connection-names.ts';
import { messageOf, StartError } from '../lib/errors.ts';
import { createLogger } from '../lib/logger.ts';
import { createSecretBox, type SecretBox } from '../lib/secret-box.ts';
import type { Sql } from '../lib/sql.ts';
import { connect } from '../log/connect.ts';
import { migrate } from '../log/migrate.ts';
import { isKeyOfDatabase } from '../log/secret-key.ts';
import { Outbox } from '../mail/outbox.ts';
import type { SecurityMail } from '../people/security-changes.ts';
import { untilStopSignal } from '../service/stopping.ts';
import { findRunning, lockDataDirectory, openDataDirectory, storedSecrets } from '../stack/data-directory.ts';
import { startPostgres } from '../stack/stack.ts';

/** The settings of a command: URLs that are not set are the URLs of the `up` that runs on `data`. */
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

/** The public URL, for links: PUBLIC_URL, or the one of the `up` that runs on `data`, or the default. */
export function findPublicUrl(data: string): string {
  const config = readConfig(process.env);
  return config.publicUrl ?? findRunning(data)?.publicUrl ?? addressesOf(config, config.port).publicUrl;
}

/** Where a command queues mails, which the service sends; undefined without SMTP_URL in its environment. */
export const findMail = (data: string): SecurityMail | undefined =>
  readConfig(process.env).smtpUrl === undefined
    ? undefined
    : { outbox: new Outbox(() => new Date()), publicUrl: findPublicUrl(data) };

/** SECRET_KEY of the environment, or else the one that `up` stores in `data`. */
export const findSecretKey = (data: string): string | undefined =>
  readConfig(process.env).secretKey ?? storedSecrets(data).secretKey;

/** Throws if `data` has two keys: only `./scanlog secret rotate` can tell which of them the database uses. */
export function refuseInterrupted(data: string): void {
  if (storedSecrets(data).nextSecretKey === undefined) return;
  throw new StartError(
    `A rotation of the key in ${data}/secrets.json was interrupted: run ./scanlog secret rotate again.`,
  );
}

/** The box of SECRET_KEY, checked against the database. */
export async function boxOf(sql: Sql, data: string): Promise<SecretBox> {
  const secretKey = findSecretKey(data);
  if (secretKey === undefined)
    throw new StartError(
      'SECRET_KEY is not set, and visitor keys are encrypted with it: set it to the key of the service.',
    );
  const box = createSecretBox(secretKey);
  if (!(await isKeyOfDatabase(sql, box)))
    throw new StartError('SECRET_KEY is not the key of this database: set it to the key of the service.');
  return box;
}

export const notFound = (data: string, variables: string) =>
  new StartError(`No Scanlog is running on ${data}: start ./scanlog up, or pass its --data, or set ${variables}.`);

/** Runs a command on the database, after migrating it. */
export async function withDatabase<T>(data: string, use: (sql: Sql) => Promise<T>): Promise<T> {
  const { databaseUrl } = findConfig(data);
  if (databaseUrl === undefined) throw notFound(data, 'DATABASE_URL');
  return connected(databaseUrl, async (sql) => {
    await migrate(sql);
    return use(sql);
  });
}

async function connected<T>(databaseUrl: string, use: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = connect(databaseUrl, { max: 8, name: commandConnection, responseTimeoutMs: 'none' });
  try {
    return await use(sql);
  } finally {
    await sql.end({ timeout: 2 });
  }
}

/**
 * Runs a command on the database without migrating it. If DATABASE_URL is not set and no `up` runs on `data`, starts its
 * Postgres for the duration of the command.
 */
export async function withStoredDatabase<T>(data: string, use: (sql: Sql) => Promise<T>): Promise<T> {
  const { databaseUrl, logLevel } = findConfig(data);
  // Ctrl-C must neither leave Postgres running nor a partial file behind.
  const ended = new AbortController();
  const stopped = untilStopSignal(ended.signal).then(() => {
    throw new StartError('Interrupted before it was complete: nothing has changed.');
  });
  stopped.catch(() => {});
  const useUntilStopped = (sql: Sql) => Promise.race([use(sql), stopped]);
  try {
    if (databaseUrl !== undefined) return await connected(databaseUrl, useUntilStopped);
    return await withPostgresOf(data, logLevel, useUntilStopped);
  } finally {
    ended.abort();
  }
}

/** Starts the Postgres of a data folder that no `up` runs on. */
async function withPostgresOf<T>(
  data: string,
  logLevel: Config['logLevel'],
  use: (sql: Sql) => Promise<T>,
): Promise<T> {
  const folder = openDataDirectory(data);
  const unlock = lockDataDirectory(folder);
  try {
    const postgres = await startPostgres({ data: folder, log: createLogger(logLevel) });
    try {
      return await connected(postgres.databaseUrl, use);
    } finally {
      await postgres.stop();
    }
  } finally {
    unlock();
  }
}

/** Runs a command on the database, after migrating it, and on ClickHouse. */
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
      throw new StartError(`ClickHouse does not answer at CLICKHOUSE_URL: ${messageOf(error)}`);
    });
    return await withDatabase(data, (sql) => use({ sql, warehouse }));
  } finally {
    await warehouse.client.close();
  }
}
