import { execFileSync } from 'node:child_process';
import { appendFileSync, chownSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sql } from 'postgres';

/** Files that a standby creates itself. All others are copied while the primary runs. */
const notCopied = new Set(['pg_wal', 'pg_replslot', 'postmaster.pid', 'postmaster.opts']);

const slot = 'replica';

/**
 * Creates a standby's data folder from the data folder of a running primary. This replaces pg_basebackup, which the embedded
 * Postgres does not include. A replication slot makes the primary keep the WAL that the standby needs.
 */
export async function copyAsStandby(
  primary: Sql,
  { from, to, primaryConninfo }: { from: string; to: string; primaryConninfo: string },
): Promise<void> {
  const owner = statSync(from);
  mkdirSync(to, { recursive: true, mode: 0o700 });
  await primary`SELECT pg_create_physical_replication_slot(${slot}, true)`;
  // pg_backup_start and pg_backup_stop must share a session: `primary` has a single connection.
  await primary`SELECT pg_backup_start('standby', true)`;
  copy(
    readdirSync(from)
      .filter((name) => !notCopied.has(name))
      .map((name) => join(from, name)),
    to,
  );
  const [backup] = await primary<[{ labelfile: string }]>`SELECT labelfile FROM pg_backup_stop(false)`;

  for (const name of ['pg_wal', 'pg_replslot']) mkdirSync(join(to, name), { mode: 0o700 });
  writeFileSync(join(to, 'backup_label'), backup.labelfile, { mode: 0o600 });
  writeFileSync(join(to, 'standby.signal'), '', { mode: 0o600 });
  appendFileSync(
    join(to, 'postgresql.auto.conf'),
    `primary_conninfo = '${primaryConninfo}'\nprimary_slot_name = '${slot}'\n`,
  );
  if (process.getuid?.() === 0)
    for (const name of ['.', 'pg_wal', 'pg_replslot', 'backup_label', 'standby.signal'])
      chownSync(join(to, name), owner.uid, owner.gid);
}

/** Preserves owners. A file that vanishes during the copy was deleted by the primary; replaying the WAL deletes it too. */
function copy(paths: string[], to: string): void {
  try {
    execFileSync('cp', ['-a', ...paths, to], { stdio: 'pipe', env: { ...process.env, LC_ALL: 'C' } });
  } catch (error) {
    const lines = String((error as { stderr?: Buffer }).stderr ?? error).trim();
    if (!lines.split('\n').every((line) => line.endsWith('No such file or directory'))) throw error;
  }
}
