import { execFileSync } from 'node:child_process';
import { appendFileSync, chownSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sql } from 'postgres';

/** What a standby makes itself. The rest of the folder is copied while the primary works. */
const leftOut = new Set(['pg_wal', 'pg_replslot', 'postmaster.pid', 'postmaster.opts']);

const slot = 'replica';

/**
 * Makes the folder of a standby from that of a running primary, as pg_basebackup would, which the embedded Postgres does
 * not have. The primary keeps the WAL that the standby needs in a replication slot.
 */
export async function copyAsStandby(
  primary: Sql,
  { from, to, primaryConninfo }: { from: string; to: string; primaryConninfo: string },
): Promise<void> {
  const owner = statSync(from);
  mkdirSync(to, { recursive: true, mode: 0o700 });
  await primary`SELECT pg_create_physical_replication_slot(${slot}, true)`;
  // Start and stop must come from one session; `primary` has one connection.
  await primary`SELECT pg_backup_start('standby', true)`;
  copy(
    readdirSync(from)
      .filter((name) => !leftOut.has(name))
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

/** With owners. A file that vanishes meanwhile was deleted by the primary, and so will be by the WAL that follows. */
function copy(paths: string[], to: string): void {
  try {
    execFileSync('cp', ['-a', ...paths, to], { stdio: 'pipe', env: { ...process.env, LC_ALL: 'C' } });
  } catch (error) {
    const lines = String((error as { stderr?: Buffer }).stderr ?? error).trim();
    if (!lines.split('\n').every((line) => line.endsWith('No such file or directory'))) throw error;
  }
}
