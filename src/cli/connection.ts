import { type Config, readConfig } from '../config.ts';
import { StartError } from '../lib/errors.ts';
import { connect, type Sql } from '../log/connect.ts';
import { migrate } from '../log/migrate.ts';
import { findRunning } from '../stack/data-directory.ts';

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

/** Runs one command against the database, brought up to date first. */
export async function withDatabase<T>(data: string, use: (sql: Sql) => Promise<T>): Promise<T> {
  const { databaseUrl } = findConfig(data);
  if (databaseUrl === undefined)
    throw new StartError(
      `No running Scanlog was found at ${data}: start ./scanlog up, or name its --data, or set DATABASE_URL.`,
    );
  const sql = connect(databaseUrl, { max: 2, name: 'scanlog-cli' });
  try {
    await migrate(sql);
    return await use(sql);
  } finally {
    await sql.end({ timeout: 2 });
  }
}
