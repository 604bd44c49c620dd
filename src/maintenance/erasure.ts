import { erasedSchema } from '../../events/catalogue.ts';
import type { Queryable, Sql, Transaction } from '../lib/sql.ts';
import { blockSize, indexedTo } from '../log/account-index.ts';
import { type ArchiveFile, archivesIn } from '../log/archives.ts';
import { mayDeleteScans } from '../log/drop-partitions.ts';
import { ensureFloorAt } from '../log/floor.ts';
import { tryLock } from '../log/history.ts';
import { locks } from '../log/locks.ts';
import { hasLeftovers } from './delete-files.ts';
import { eraseCodes, erasedColumns } from './erase-codes.ts';
import { deleteAllLeftovers, type RewriteHooks, type RewriteOutcome, rewriteFile } from './rewrite-file.ts';

/**
 * The erasure of a deleted account runs in steps, each in its own transaction; any process may run the next step.
 *
 * 1. Append code_deleted, where it is missing, and code_erased to each code, and empty the data of its other events.
 * 2. Wait until the projections have applied that. A projection that lags would otherwise create deliveries, or rows in
 *    the warehouse, from scans that are still in the stream but no longer in the log.
 * 3. Delete the webhook deliveries.
 * 4. Delete the scans from the log.
 * 5. Replace the archive files that have scans of the account. The archive gets no more of them, since an archive run moves
 *    a range only if it has the scans that it has written.
 * 6. Delete the replaced files, and those that an archive run has left behind.
 * 7. Delete the remaining rows of the account, and empty the data of its own events.
 */
export type ErasureStep =
  /** `isArchive`: in files of the archive, so that it held up no append. */
  | { state: 'progressed'; scansTo: number; total: number; isArchive?: boolean }
  /** `isArchive`: for files of the archive that cannot be read or written now. */
  | { state: 'waiting'; for: string; isArchive?: boolean }
  | { state: 'done' };

interface Erasure {
  account: string;
  ended_to: number;
  appended_to: number;
  scans_to: number;
  archive_to: number;
  /** The position of account_deleted. */
  deleted_at: number;
}

const maxDeliveriesPerStep = 2_000;
/** Log positions that one step searches for scans, and scans that it deletes. */
const maxPositionsPerStep = 100_000;
const maxScansPerStep = 5_000;

export async function pendingErasures(sql: Queryable): Promise<string[]> {
  const rows = await sql<{ account: string }[]>`
    SELECT account FROM erasures WHERE done_at IS NULL ORDER BY requested_at`;
  return rows.map(({ account }) => account);
}

const waitingForReaders: ErasureStep = { state: 'waiting', for: 'a backup, verify or another erasure to end' };

/** What is not done in one transaction. */
type ArchiveStep =
  | { state: 'file'; file: ArchiveFile; erasure: Erasure; total: number }
  | { state: 'leftovers'; total: number };

/** Runs the next step of an account's erasure. */
export async function eraseNext(sql: Sql, account: string, now: Date, hooks: RewriteHooks = {}): Promise<ErasureStep> {
  const step = await nextInLog(sql, account, now);
  switch (step.state) {
    case 'file':
      return resultOf(await eraseInFile(sql, step, now, hooks), step.file.to, step.total);
    case 'leftovers':
      return resultOf(await deleteAllLeftovers(sql), step.total, step.total);
    default:
      return step;
  }
}

function resultOf(
  outcome: Awaited<ReturnType<typeof deleteAllLeftovers>>,
  scansTo: number,
  total: number,
): ErasureStep {
  if (outcome.state === 'progressed') return { state: 'progressed', scansTo, total, isArchive: true };
  if (outcome.state === 'busy') return { state: 'waiting', for: 'another process to rewrite an archive file' };
  const waitsFor = outcome.state === 'archiving' ? 'an archive run to end' : outcome.for;
  return { state: 'waiting', for: waitsFor, isArchive: true };
}

const nextInLog = (sql: Sql, account: string, now: Date): Promise<ErasureStep | ArchiveStep> =>
  sql.begin(async (tx): Promise<ErasureStep | ArchiveStep> => {
    if (!(await tryLock(tx, locks.erasure))) return waitingForReaders;
    const [erasure] = await tx<Erasure[]>`
      SELECT account, ended_to, appended_to, scans_to, archive_to,
        (SELECT position FROM events WHERE stream = account AND type = 'account_deleted') AS deleted_at
      FROM erasures WHERE account = ${account} AND done_at IS NULL FOR UPDATE`;
    if (erasure === undefined) return { state: 'done' };
    // The triggers on the log allow changes only to the account in this setting.
    await tx`SELECT set_config('scanlog.erasing', ${account}, true)`;
    const reached = await positionsOf(tx);
    const progressed: ErasureStep = { state: 'progressed', scansTo: erasure.scans_to, total: reached.counters };
    if (await eraseCodes(tx, erasure, now)) return progressed;
    const pending = pendingProjection(erasure, reached);
    if (pending !== undefined) return { state: 'waiting', for: pending };
    if (await eraseDeliveries(tx, account)) return progressed;
    if (erasure.scans_to < reached.counters && !(await mayDeleteScans(tx)))
      return { state: 'waiting', for: 'the retention or an archive run to drop a partition of the log' };
    const { to, newest } = await eraseScans(tx, erasure, reached.counters);
    const step =
      to < reached.counters ? { ...progressed, scansTo: to } : await afterScans(tx, erasure, reached.counters, now);
    await ensureFloorAt(tx, newest);
    return step;
  });

async function afterScans(
  tx: Transaction,
  erasure: Erasure,
  total: number,
  now: Date,
): Promise<ErasureStep | ArchiveStep> {
  const file = await nextFile(tx, erasure);
  if (file !== undefined) return { state: 'file', file, erasure, total };
  if (await hasLeftovers(tx)) return { state: 'leftovers', total };
  const codes = await codesWithVisitors(tx, erasure.account);
  if (codes > 0) return { state: 'waiting', for: `the visitors of ${codes} of its codes to be removed` };
  await finish(tx, erasure.account, now);
  return { state: 'done' };
}

/** The checkpoints of the projections. */
interface Reached {
  counters: number;
  webhooks: number;
  warehouse: number;
  /** Up to this position, scans of deleted codes are removed from the warehouse. */
  removed: number;
}

async function positionsOf(tx: Transaction): Promise<Reached> {
  const [row] = await tx<[Reached]>`
    SELECT
      coalesce((SELECT position FROM checkpoints WHERE projection = 'counters'), -1) AS counters,
      coalesce((SELECT position FROM checkpoints WHERE projection = 'webhooks'), -1) AS webhooks,
      coalesce((SELECT position FROM warehouse_tables WHERE in_use), -1) AS warehouse,
      coalesce((SELECT removed_to FROM warehouse_tables WHERE in_use), -1) AS removed`;
  return row;
}

function pendingProjection({ deleted_at, appended_to, ended_to }: Erasure, reached: Reached): string | undefined {
  const to = Math.max(deleted_at, appended_to);
  const lagging = (['counters', 'webhooks', 'warehouse'] as const).find((name) => reached[name] < to);
  if (lagging !== undefined) return `the ${lagging} to reach position ${to} of the log`;
  return reached.removed < ended_to ? 'its scans to leave the warehouse' : undefined;
}

async function eraseDeliveries(tx: Transaction, account: string): Promise<boolean> {
  // Replays, endpoints and deliveries are locked in this order everywhere, to avoid deadlocks.
  await tx`DELETE FROM endpoint_replays WHERE account = ${account}`;
  await tx`SELECT FROM endpoints WHERE account = ${account} ORDER BY webhook FOR UPDATE`;
  const removed = await tx`
    DELETE FROM deliveries d
    USING (SELECT account, webhook, id FROM deliveries WHERE account = ${account} LIMIT ${maxDeliveriesPerStep}) AS chunk
    WHERE d.account = chunk.account AND d.webhook = chunk.webhook AND d.id = chunk.id`;
  return removed.count > 0;
}

/**
 * Deletes the next scans, up to position `end`. Resolves to the position up to which all of the account have left, and to the
 * highest one that was deleted.
 */
async function eraseScans(
  tx: Transaction,
  { account, scans_to }: Erasure,
  end: number,
): Promise<{ to: number; newest: number | null }> {
  if (end <= scans_to) return { to: scans_to, newest: null };
  const searchedTo = Math.min(scans_to + maxPositionsPerStep, end);
  const found = await tx<{ position: number }[]>`
    SELECT position FROM scans WHERE position > ${scans_to} AND position <= ${searchedTo} AND account = ${account}
    ORDER BY position LIMIT ${maxScansPerStep}`;
  const last = found.at(-1)?.position;
  const to = last === undefined || found.length < maxScansPerStep ? searchedTo : last;
  if (last !== undefined) {
    const positions = `{${found.map(({ position }) => position).join()}}`;
    // Without the limits, Postgres would look for the positions in every partition.
    await tx`
      DELETE FROM scans
      WHERE position > ${scans_to} AND position <= ${last} AND position = ANY(${positions}::text::bigint[])`;
  }
  await tx`UPDATE erasures SET scans_to = ${to} WHERE account = ${account}`;
  return { to, newest: last ?? null };
}

/** The next archive file that can have scans of the account. */
async function nextFile(tx: Transaction, { account, archive_to }: Erasure): Promise<ArchiveFile | undefined> {
  const [next] = await tx<{ from: number; to: number }[]>`
    SELECT a.from_position AS "from", a.to_position AS "to" FROM archives a
    WHERE a.to_position > ${archive_to} AND a.location IS NOT NULL AND (
      a.to_position > ${await indexedTo(tx)} OR EXISTS (
        SELECT FROM account_blocks b
        WHERE b.account = ${account} AND b.scans IS DISTINCT FROM ''
          AND b.block >= (a.from_position - 1) / ${blockSize} AND b.block <= (a.to_position - 1) / ${blockSize}
      )
    )
    ORDER BY a.from_position LIMIT 1`;
  return next && (await archivesIn(tx, { after: next.from - 1, to: next.to }))[0];
}

const eraseInFile = (
  sql: Sql,
  { file, erasure: { account, archive_to } }: Extract<ArchiveStep, { state: 'file' }>,
  now: Date,
  hooks: RewriteHooks,
): Promise<RewriteOutcome> =>
  rewriteFile({
    ...hooks,
    sql,
    file,
    now,
    keeps: (scan) => scan.account !== account,
    async onReplace(tx, removed) {
      // The counters lower archive_to when they apply a late scan of the account.
      const { count } = await tx`
        UPDATE erasures SET archive_to = ${file.to}
        WHERE account = ${account} AND archive_to = ${archive_to} AND done_at IS NULL`;
      await tx`DELETE FROM archived_scans WHERE code = ANY(${[...removed.keys()]})`;
      return count === 1;
    },
  });

async function codesWithVisitors(tx: Transaction, account: string): Promise<number> {
  const [{ count }] = await tx<[{ count: number }]>`
    SELECT count(*) FROM visitor_removals r JOIN codes c ON c.id = r.code WHERE c.account = ${account}`;
  return count;
}

async function finish(tx: Transaction, account: string, now: Date): Promise<void> {
  await tx`
    DELETE FROM key_usage WHERE key IN (
      SELECT data ->> 'key' FROM events WHERE stream = ${account} AND type = 'key_created'
    )`;
  await tx`DELETE FROM rate_windows WHERE starts_with(subject, ${`${account}/`})`;
  for (const table of accountTables) await tx`DELETE FROM ${tx(table)} WHERE account = ${account}`;
  await tx`
    UPDATE events SET ${erasedColumns(tx)}
    WHERE stream = ${account} AND type <> 'account_deleted' AND schema <> ${erasedSchema}`;
  await tx`UPDATE erasures SET done_at = ${now} WHERE account = ${account}`;
}

const accountTables = [
  'console_sessions',
  'console_sign_in_links',
  'idempotency_keys',
  'endpoint_tests',
  'endpoint_secrets',
  'endpoints',
  'delivery_counts',
  'account_blocks',
  'logo_files',
  'domain_checks',
  'imports',
  'subscriptions',
  'share_secrets',
  'alert_checks',
  'destination_checks',
  'mails',
  'report_schedules',
  'mail_recipients',
  'invitations',
  'one_time_links',
  'account_imports',
  'account_import_positions',
];
