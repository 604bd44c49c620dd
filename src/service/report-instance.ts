import { randomUUID } from 'node:crypto';
import { statfs } from 'node:fs/promises';
import { hostname } from 'node:os';
import packageJson from '../../package.json' with { type: 'json' };
import { messageOf } from '../lib/errors.ts';
import { every } from '../lib/every.ts';
import { removeInstance, reportInstance } from '../operator/instances.ts';
import type { ServiceContext, Started } from './context.ts';

const intervalMs = 10_000;

/** Reports this process to the operator's console; returns the function that stops it, after which it is not listed. */
export function reportRegularly({ config, sql, log }: ServiceContext, { edge }: Started): () => void {
  const id = randomUUID();
  const self = { id, host: hostname(), pid: process.pid, version: packageJson.version, roles: [...config.roles] };
  async function report(): Promise<void> {
    const spool = edge?.spool();
    const disk = edge === undefined ? undefined : await statfs(config.edgeFolder);
    await reportInstance(sql, {
      ...self,
      spool_bytes: spool?.bytes ?? null,
      spool_seconds: spool?.secondsLeft ?? null,
      disk_free: disk === undefined ? null : disk.bavail * disk.bsize,
      disk_size: disk === undefined ? null : disk.blocks * disk.bsize,
    });
  }
  const onError = (error: unknown) =>
    log.warn({ error: messageOf(error) }, 'this process could not be reported to the operator: retrying in 10 s');
  const loop = every(intervalMs, report, { onError, ref: false });
  // Awaits neither: a process must stop without Postgres, too. Its row is then swept.
  return () => {
    void loop.stop();
    removeInstance(sql, id).catch(() => {});
  };
}
