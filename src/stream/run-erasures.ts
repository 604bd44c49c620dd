import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import type { Sql } from '../log/connect.ts';
import { type ErasureStep, eraseNext, pendingErasures } from './erasure.ts';
import type { Leadership } from './leader.ts';

const idleMs = 2_000;
/** Twice the duration of the last step, which leaves two thirds of the time to appends. */
const pausePerStep = 2;

/** Erases deleted accounts for as long as the service runs. It needs no leader: each step locks its account. */
export function runErasures({ sql, log }: { sql: Sql; log: Logger }): Leadership {
  const stopping = new AbortController();
  const pause = (ms: number) => sleep(ms, undefined, { signal: stopping.signal }).catch(() => {});

  async function eraseUntilWaiting(account: string): Promise<void> {
    for (let step: ErasureStep = await eraseNext(sql, account, new Date()); !stopping.signal.aborted; ) {
      if (step.state === 'done') log.info({ account }, 'the data of a deleted account is erased');
      if (step.state !== 'progressed') return;
      const started = performance.now();
      step = await eraseNext(sql, account, new Date());
      await pause((performance.now() - started) * pausePerStep);
    }
  }

  const erasing = (async () => {
    while (!stopping.signal.aborted) {
      try {
        for (const account of await pendingErasures(sql)) await eraseUntilWaiting(account);
      } catch (error) {
        log.warn({ error: messageOf(error) }, 'the data of a deleted account could not be erased, trying again');
      }
      await pause(idleMs);
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await erasing;
    },
  };
}

/** Erases an account while the service runs; resolves to what it waits for when nothing has moved for `timeoutMs`. */
export async function eraseAccount(
  sql: Sql,
  account: string,
  { timeoutMs, onProgress }: { timeoutMs: number; onProgress(done: number, total: number): void },
): Promise<string | undefined> {
  let deadline = performance.now() + timeoutMs;
  for (;;) {
    const started = performance.now();
    const step = await eraseNext(sql, account, new Date());
    if (step.state === 'done') return undefined;
    if (step.state === 'waiting') {
      if (started > deadline) return step.for;
      await sleep(250);
    } else {
      onProgress(step.scansTo, step.total);
      deadline = performance.now() + timeoutMs;
      await sleep((performance.now() - started) * pausePerStep);
    }
  }
}
