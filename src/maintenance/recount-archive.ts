import { setTimeout as sleep } from 'node:timers/promises';
import { ArchiveError } from '../archive/errors.ts';
import type { Sql, Transaction } from '../lib/sql.ts';
import { listArchives, namesOf } from '../log/archives.ts';
import { tryLock } from '../log/history.ts';
import { locks } from '../log/locks.ts';
import { verifyFiles } from './verify-archive.ts';

const waitForLockMs = 100;

/** Counts the scans in archive files, and corrects `archived_scans`; resolves to the number of wrong rows. */
export async function recountArchivedScans(sql: Sql): Promise<number> {
  const files = await listArchives(sql);
  const { counts, differences } = await verifyFiles(files, { account: undefined, leaving: undefined });
  if (differences[0] !== undefined) {
    // A file that was replaced meanwhile is missing.
    if (namesOf(await listArchives(sql)) !== namesOf(files)) return recountArchivedScans(sql);
    throw new ArchiveError(differences[0].found);
  }
  const rows = [...counts.all].map(([code, { total, unique }]) => ({
    code,
    total,
    unique,
    uncounted: counts.uncounted.get(code)?.total ?? 0,
  }));
  const correct = async (tx: Transaction) => {
    // Held by every transaction that moves scans. Polled, since a backup or verify shares it for minutes.
    if (!(await tryLock(tx, locks.retention))) return 'busy';
    if (namesOf(await listArchives(tx)) !== namesOf(files)) return 'moved';
    const counted = tx`
      SELECT n.code, n.total, n."unique", n.uncounted
      FROM jsonb_to_recordset(${tx.json(rows)}) AS n (code text, total bigint, "unique" bigint, uncounted bigint)
      JOIN codes c ON c.id = n.code WHERE c.status <> 'deleted'`;
    const { count } = await tx`
      DELETE FROM archived_scans a WHERE NOT EXISTS (
        SELECT FROM (${counted}) AS n
        WHERE (n.code, n.total, n."unique", n.uncounted) = (a.code, a.total_scans, a.unique_scans, a.uncounted_scans)
      )`;
    const added = await tx`INSERT INTO archived_scans ${counted} ON CONFLICT DO NOTHING`;
    return Math.max(count, added.count);
  };
  for (;;) {
    const corrected = await sql.begin(correct);
    if (corrected === 'moved') return recountArchivedScans(sql);
    if (corrected !== 'busy') return corrected;
    await sleep(waitForLockMs);
  }
}
