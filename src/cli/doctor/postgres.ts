import { messageOf, StartError } from '../../lib/errors.ts';
import { createSecretBox } from '../../lib/secret-box.ts';
import type { Sql } from '../../lib/sql.ts';
import { listArchives } from '../../log/archives.ts';
import { pendingMigrations } from '../../log/migrate.ts';
import { storedFingerprint } from '../../log/secret-key.ts';
import { cutoffOf, latestRun } from '../../maintenance/retention.ts';
import { unreadableFiles } from '../../maintenance/verify-archive.ts';
import { bytes, type Checks, compareClocks, error, type Outcome, ok, warning } from './finding.ts';

const oldestVersion = 150_000;
/** Unlogged on purpose: a crash may lose the requests counted in the current minute. */
const unloggedOnPurpose = ['rate_windows'];

/** What can be lost while a setting is off. */
const lossySettings = {
  fsync: 'a crash of its machine loses or corrupts committed scans',
  full_page_writes: 'a crash of its machine can corrupt pages',
  synchronous_commit: 'a crash of Postgres loses the latest scans, although they were answered with a redirect',
};

/** Checks of the database that stores the log. The checks write nothing. */
export function postgresChecks(sql: Sql, secretKey: string | undefined, retentionMonths: number | undefined): Checks {
  return {
    version: async () => {
      const [{ number, text }] = await sql<[{ number: number; text: string }]>`
        SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS text`;
      return number >= oldestVersion
        ? ok(`Postgres ${text}.`)
        : error(`Postgres ${text} is too old: upgrade it to 15 or newer.`);
    },
    primary: async () => {
      const [{ standby, readOnly }] = await sql<[{ standby: boolean; readOnly: boolean }]>`
        SELECT pg_is_in_recovery() AS standby, current_setting('default_transaction_read_only') = 'on' AS "readOnly"`;
      if (standby) return error('This server is a standby and accepts no writes: set DATABASE_URL to the primary.');
      if (readOnly) return error('default_transaction_read_only is on for this user or database: turn it off.');
      return ok('It accepts writes.');
    },
    grants: async () => {
      const [{ schema, creates, foreign }] = await sql<
        [{ schema: string | null; creates: boolean | null; foreign: string | null }]
      >`
        SELECT current_schema() AS schema, has_schema_privilege(current_schema(), 'CREATE') AS creates,
          (SELECT string_agg(tablename, ', ' ORDER BY tablename) FROM pg_tables
            WHERE schemaname = current_schema() AND tablename IN ('migrations', 'events', 'scans', 'codes', 'accounts')
              AND NOT pg_has_role(tableowner, 'USAGE')) AS foreign`;
      if (schema === null) return error('No schema of the search_path exists: create one, or correct search_path.');
      if (!creates) return error(`This user may not create tables: GRANT CREATE ON SCHEMA ${schema} TO it.`);
      if (foreign !== null)
        return error(`This user does not own ${foreign}, so it cannot migrate them: use the role that owns them.`);
      return ok(`This user may create tables in the schema ${schema}, and owns those that exist.`);
    },
    migrations: async () => {
      try {
        const pending = await pendingMigrations(sql);
        if (pending.length === 0) return ok('All migrations are applied.');
        return ok(`${pending.length} migrations are pending: the next process that starts applies them.`);
      } catch (thrown) {
        if (thrown instanceof StartError) return error(messageOf(thrown));
        throw thrown;
      }
    },
    secret_key: async () => {
      const stored = await storedFingerprint(sql);
      if (secretKey === undefined)
        return error('SECRET_KEY is not set, and no process starts without it: set it to the key of this database.');
      if (stored === undefined) return ok('SECRET_KEY is set, and the database is not bound to a key yet.');
      const matches = createSecretBox(secretKey).fingerprint.toString('hex') === stored;
      return matches
        ? ok('SECRET_KEY is the key of this database.')
        : error(
            'SECRET_KEY is not the key of this database: correct it, or run ./scanlog secret reset if the key is lost.',
          );
    },
    durability: async () => {
      const off = await sql<{ name: keyof typeof lossySettings }[]>`
        SELECT name FROM pg_settings WHERE name IN ${sql(Object.keys(lossySettings))} AND setting = 'off' ORDER BY name`;
      const [{ unlogged }] = await sql<[{ unlogged: string | null }]>`
        SELECT string_agg(relname, ', ' ORDER BY relname) AS unlogged FROM pg_class
        WHERE relpersistence = 'u' AND relkind = 'r' AND NOT relname = ANY (${unloggedOnPurpose})
          AND relnamespace = current_schema()::regnamespace`;
      const risks = off.map(({ name }) => `${name} is off: ${lossySettings[name]}; turn it on.`);
      if (unlogged !== null) risks.push(`${unlogged} is unlogged, so a crash empties it: ALTER TABLE … SET LOGGED.`);
      return risks.length === 0 ? ok('A commit is on disk before it is confirmed.') : warning(risks.join(' '));
    },
    retention: () => checkRetention(sql, retentionMonths),
    archive: () => checkArchive(sql),
    clock: () =>
      compareClocks(async () => {
        const [{ ms }] = await sql<
          [{ ms: number }]
        >`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS ms`;
        return ms;
      }),
    size: async () => {
      const [{ size }] = await sql<[{ size: number }]>`SELECT pg_database_size(current_database()) AS size`;
      return ok(`The database takes ${bytes(size)}. Postgres does not report the free space of its disk.`);
    },
  };
}

/** A run waits for projections and for ClickHouse; longer than this, something does not work. */
const maxRunMs = 24 * 60 * 60 * 1000;

/** What SCAN_RETENTION_MONTHS deletes and has deleted; nothing where it does neither. */
async function checkRetention(sql: Sql, months: number | undefined): Promise<Outcome | undefined> {
  const [{ exists }] = await sql<[{ exists: boolean }]>`SELECT to_regclass('scan_retention') IS NOT NULL AS exists`;
  const run = exists ? await latestRun(sql) : undefined;
  const day = (time: Date) => time.toISOString().slice(0, 10);
  const wanted =
    months === undefined
      ? 'SCAN_RETENTION_MONTHS is not set here.'
      : `SCAN_RETENTION_MONTHS deletes scans from before ${day(cutoffOf(months, new Date()))}.`;
  if (run === undefined) return months === undefined ? undefined : ok(`${wanted} None was deleted yet.`);
  if (run.done_at !== null)
    return ok(`${wanted} The last run deleted ${run.scans} scans from before ${day(run.before)}.`);
  const underWay = `Scans from before ${day(run.before)} are being deleted since ${run.started_at.toISOString()}`;
  return Date.now() - run.started_at.getTime() < maxRunMs
    ? ok(`${wanted} ${underWay}.`)
    : warning(`${underWay}: the log of the processes with the role projections says what that waits for.`);
}

/** Files whose existence is checked, the newest ones. */
const maxCheckedFiles = 100;

/** What is archived, and whether the files can be reached; nothing where no scan is. */
async function checkArchive(sql: Sql): Promise<Outcome | undefined> {
  const [{ exists }] = await sql<[{ exists: boolean }]>`SELECT to_regclass('archives') IS NOT NULL AS exists`;
  const files = exists ? await listArchives(sql) : [];
  const last = files.at(-1);
  if (last === undefined) return undefined;
  const unreadable = await unreadableFiles(files.slice(-maxCheckedFiles));
  if (unreadable.length > 0) return error(unreadable.slice(0, 3).join(' '));
  const [{ at }] = await sql<[{ at: Date }]>`SELECT max(archived_at) AS at FROM archives`;
  const scans = files.reduce((sum, file) => sum + file.scans, 0);
  const size = bytes(files.reduce((sum, file) => sum + file.bytes, 0));
  return ok(
    `${scans} scans are in ${files.length === 1 ? 'an archive file' : `${files.length} archive files`} of ${size}, up to position ${last.to}; the last run was at ${at.toISOString()}.`,
  );
}
