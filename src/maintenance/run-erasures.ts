import { messageOf } from '../lib/errors.ts';
import { every } from '../lib/every.ts';
import type { Logger } from '../lib/logger.ts';
import type { Sql } from '../lib/sql.ts';
import { systemTimers, type Timers } from '../lib/timers.ts';
import type { Leadership } from '../stream/leader.ts';
import { type ErasureStep, eraseNext, pendingErasures } from './erasure.ts';
import { ErasureProgress } from './erasure-progress.ts';

const idleMs = 2_000;
/** A pause of twice the duration of the last step leaves two thirds of the time to appends, where the step held them up. */
const pausePerStep = 2;
const pauseAfter = ({ isArchive }: { isArchive?: boolean }, ms: number) => (isArchive ? 0 : ms * pausePerStep);

/** A retry can read a whole archive file before it fails. */
const archiveRetryMs = 30_000;

interface ErasureOptions {
  sql: Sql;
  log: Logger;
  timers?: Timers;
}

/** Erases deleted accounts in the background. Needs no leader, because each step locks its account. */
export function runErasures({ sql, log, timers = systemTimers }: ErasureOptions): Leadership {
  /** Accounts whose erasure waits for the archive. */
  const waiting = new Map<string, { for: string; until: number }>();
  const progress = new ErasureProgress(log, timers);

  function waitForArchive(account: string, reason: string): void {
    if (waiting.get(account)?.for !== reason)
      log.warn({ account, for: reason }, 'the erasure of a deleted account waits: trying again every 30 s');
    waiting.set(account, { for: reason, until: timers.now() + archiveRetryMs });
  }

  async function eraseUntilWaiting(account: string, signal: AbortSignal): Promise<void> {
    for (let step: ErasureStep = await eraseNext(sql, account, new Date(), { signal }); !signal.aborted; ) {
      progress.add(account, step);
      if (step.state === 'done') log.info({ account }, 'erased the data of a deleted account');
      if (step.state === 'waiting' && step.isArchive) return waitForArchive(account, step.for);
      waiting.delete(account);
      if (step.state !== 'progressed') return;
      const started = timers.now();
      step = await eraseNext(sql, account, new Date(), { signal });
      if (step.state === 'progressed') await timers.sleep(pauseAfter(step, timers.now() - started), { signal });
    }
  }

  async function eraseAll(signal: AbortSignal): Promise<void> {
    for (const account of await pendingErasures(sql))
      if ((waiting.get(account)?.until ?? 0) <= timers.now()) await eraseUntilWaiting(account, signal);
  }

  return every(idleMs, eraseAll, {
    onError: (error) =>
      log.warn({ error: messageOf(error) }, 'the data of a deleted account could not be erased, trying again'),
  });
}

/** Erases one account. Resolves to undefined when done, or to what it waits for after `timeoutMs` without progress. */
export async function eraseAccount(
  sql: Sql,
  account: string,
  { timeoutMs, onProgress }: { timeoutMs: number; onProgress(done: number, total: number): void },
  timers: Timers = systemTimers,
): Promise<string | undefined> {
  let deadline = timers.now() + timeoutMs;
  let waitsFor: string | undefined;
  for (;;) {
    const started = timers.now();
    const step = await eraseNext(sql, account, new Date());
    if (step.state === 'done') return undefined;
    if (step.state === 'waiting') {
      // Such as fewer codes with visitors.
      if (step.for !== waitsFor) deadline = started + timeoutMs;
      else if (started > deadline) return step.for;
      waitsFor = step.for;
      await timers.sleep(250);
    } else {
      onProgress(step.scansTo, step.total);
      deadline = timers.now() + timeoutMs;
      await timers.sleep(pauseAfter(step, timers.now() - started));
    }
  }
}
