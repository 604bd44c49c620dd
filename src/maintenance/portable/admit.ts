import { Refusal } from '../../lib/errors.ts';
import type { Sql, Transaction } from '../../lib/sql.ts';
import { ensureFloorAt } from '../../log/floor.ts';
import { locks } from '../../log/locks.ts';
import { headOfLog } from '../../log/read.ts';
import { type Staged, stagingSchema } from './stage.ts';

/**
 * Tables that get the rows of the account before its entries are in the log: readers of the log need its codes, and no one else
 * may take its ids, links and domains. Without a row in `accounts`, the account is hidden.
 */
const admittedTables = [
  'codes',
  'code_counts',
  'domains',
  'logos',
  'subscriptions',
  'shares',
  'reports',
  'alerts',
  'raised_alerts',
  'dropped_scans',
  'imports',
  'logo_files',
  'visitor_keys',
  'code_passwords',
  'endpoint_secrets',
  'share_secrets',
  'report_schedules',
  'mail_recipients',
  'account_imports',
  'account_import_positions',
];

/** Columns of records, and the tables of which one has the ids that they name. */
const references: { table: string; column: string; of: string | [string, string] }[] = [
  { table: 'limited_scans', column: 'code', of: 'codes' },
  { table: 'dropped_scans', column: 'code', of: 'codes' },
  { table: 'visitor_keys', column: 'code', of: 'codes' },
  { table: 'code_passwords', column: 'code', of: 'codes' },
  { table: 'imports', column: 'code', of: 'codes' },
  { table: 'key_usage', column: 'key', of: 'api_keys' },
  { table: 'share_secrets', column: 'share', of: 'shares' },
  { table: 'report_schedules', column: 'report', of: 'reports' },
  { table: 'mail_recipients', column: 'subject', of: ['reports', 'alerts'] },
];

/**
 * Adds the rows of a staged account to the tables of the service, and the row of its import, in one transaction. Refuses if
 * anything of it is taken.
 */
export const admit = (sql: Sql, account: string, staged: Staged, now: Date): Promise<void> =>
  sql.begin(async (tx) => {
    await tx`SET LOCAL statement_timeout = 0`;
    await refuseForeign(tx);
    const remains = await removeRemains(tx, account);
    await refuseTaken(tx, account);
    for (const table of admittedTables)
      await tx.unsafe(`INSERT INTO public.${table} SELECT * FROM ${stagingSchema}.${table}`);
    await tx`
      INSERT INTO scan_counts AS c SELECT code, total_scans, unique_scans, uncounted_scans FROM ${staging(tx, 'dropped_scans')}
      ON CONFLICT (code) DO UPDATE SET
        total_scans = c.total_scans + excluded.total_scans, unique_scans = c.unique_scans + excluded.unique_scans,
        uncounted_scans = c.uncounted_scans + excluded.uncounted_scans`;
    await tx`
      INSERT INTO account_imports (account, number, sha256, after_position, cursors, started_at)
      SELECT ${account}, coalesce(max(number), 0) + 1, ${staged.sha256}, ${await headOfLog(tx)}, ${JSON.stringify(staged.cursors)}::text::jsonb,
        ${now}
      FROM account_imports WHERE account = ${account}`;
    await refuseSimilar(tx);
    await ensureFloorAt(tx, remains);
  });

const staging = (tx: Transaction, table: string) => tx.unsafe(`${stagingSchema}.${table}`);

/** Records of a file may only be about what it has. */
async function refuseForeign(tx: Transaction): Promise<void> {
  for (const { table, column, of } of references) {
    const [first = '', second = first] = [of].flat();
    const [row] = await tx<{ id: string }[]>`
      SELECT ${tx(column)} AS id FROM ${staging(tx, table)} r
      WHERE NOT EXISTS (SELECT FROM ${staging(tx, first)} o WHERE o.id = r.${tx(column)})
        AND NOT EXISTS (SELECT FROM ${staging(tx, second)} o WHERE o.id = r.${tx(column)}) LIMIT 1`;
    if (row !== undefined)
      throw new Refusal('invalid_request', `The file has ${table} of ${row.id}, which it does not have.`);
  }
}

/** Removes what the erasure of the account on this instance has left; resolves to the last position of that, if any. */
async function removeRemains(tx: Transaction, account: string): Promise<number | null> {
  const [erasure] = await tx<{ done_at: Date | null }[]>`
    SELECT done_at FROM erasures WHERE account = ${account} FOR UPDATE`;
  if (erasure === undefined) return null;
  if (erasure.done_at === null)
    throw new Refusal(
      'conflict',
      `${account} was deleted here and is still being erased: try again when that is done.`,
    );
  await tx`SELECT set_config('scanlog.returning', ${account}, true)`;
  const [{ newest }] = await tx<[{ newest: number | null }]>`
    WITH removed AS (
      DELETE FROM events
      WHERE stream = ${account} OR stream IN (SELECT id FROM codes WHERE account = ${account})
      RETURNING position
    )
    SELECT max(position) AS newest FROM removed`;
  await tx`DELETE FROM codes WHERE account = ${account}`;
  await tx`DELETE FROM erasures WHERE account = ${account}`;
  return newest;
}

/** What must be free, as a query for the first that is not. */
const conflicts: { what: string; query: string }[] = [
  {
    what: 'The account',
    query: `SELECT id AS taken FROM ${stagingSchema}.accounts s WHERE EXISTS (SELECT FROM events WHERE stream = s.id)`,
  },
  { what: 'The code', query: `SELECT s.id AS taken FROM ${stagingSchema}.codes s JOIN public.codes p ON p.id = s.id` },
  {
    what: 'The short code',
    query: `SELECT s.short_code AS taken FROM ${stagingSchema}.codes s JOIN public.codes p ON p.short_code = s.short_code`,
  },
  {
    what: 'The key',
    query: `
      SELECT s.id AS taken FROM ${stagingSchema}.api_keys s
      WHERE EXISTS (SELECT FROM public.api_keys p WHERE p.id = s.id OR p.hash = s.hash)`,
  },
  {
    what: 'The domain',
    query: `
      SELECT s.name AS taken FROM ${stagingSchema}.domains s
      WHERE EXISTS (SELECT FROM public.domains p WHERE p.id = s.id)
        OR s.status IN ('active', 'failing')
          AND EXISTS (SELECT FROM public.domains p WHERE p.name = s.name AND p.status IN ('active', 'failing'))`,
  },
  { what: 'The logo', query: `SELECT s.id AS taken FROM ${stagingSchema}.logos s JOIN public.logos p ON p.id = s.id` },
  {
    what: 'The shared page',
    query: `
      SELECT s.share AS taken FROM ${stagingSchema}.share_secrets s
      JOIN public.share_secrets p ON p.share = s.share OR p.token_hash = s.token_hash`,
  },
  {
    what: 'The report',
    query: `SELECT s.id AS taken FROM ${stagingSchema}.reports s JOIN public.reports p ON p.id = s.id`,
  },
  {
    what: 'The alert',
    query: `SELECT s.id AS taken FROM ${stagingSchema}.alerts s JOIN public.alerts p ON p.id = s.id`,
  },
];

async function refuseTaken(tx: Transaction, account: string): Promise<void> {
  for (const { what, query } of conflicts) {
    const [row] = await tx.unsafe<{ taken: string }[]>(`${query} LIMIT 1`);
    if (row !== undefined)
      throw new Refusal(
        'conflict',
        `${what} ${row.taken} exists on this instance: nothing of ${account} was imported.`,
      );
  }
}

/** Refuses short codes that differ from one of another account only in case. */
async function refuseSimilar(tx: Transaction): Promise<void> {
  // Creates of codes hold it while they check the same. Last, since they wait for it until the commit.
  await tx`SELECT pg_advisory_xact_lock(${locks.givenShortCodes})`;
  const [row] = await tx<{ taken: string }[]>`
    SELECT p.short_code AS taken FROM ${staging(tx, 'codes')} s
    JOIN public.codes p ON folded_given_code(p.short_code, p.short_code_given) = lower(s.short_code COLLATE "C")
    WHERE p.id <> s.id AND p.account <> s.account LIMIT 1`;
  if (row !== undefined)
    throw new Refusal('conflict', `The short code ${row.taken} exists on this instance: nothing was imported.`);
}
