import type { Code } from '../../../events/code.ts';
import type { Owner } from '../../../events/owner.ts';
import { classifyReadError, isUnknownTable } from '../../analytics/errors.ts';
import type { Reading } from '../../analytics/reading.ts';
import type { Selection } from '../../analytics/selection.ts';
import { type TableInUse, tableInUse } from '../../analytics/table-in-use.ts';
import { codeNotFound, findCode } from '../../codes/codes.ts';
import { beforeAbort } from '../../lib/before-abort.ts';
import { retryLater } from '../../lib/errors.ts';
import { QueueFull, SemaphorePerKey } from '../../lib/semaphore.ts';
import { timeouts } from '../../lib/timeouts.ts';
import type { Service } from '../service.ts';
import { type FilterQuery, filtersOf } from './filters.ts';
import type { Period } from './period.ts';

export const tag = 'Analytics';
export const codeParams = { id: 'Identifier of the code, `qr_…`.' };

/** Response header of every analytics read. */
export const positionHeader = {
  'X-Log-Position': {
    description:
      'Identifies the position of the log that this response was computed at: responses with the same value cover the same scans. Opaque; compare for equality only.',
    example: 'q0Zk3yJt1nXo8cVbR5mWdA',
  },
};

/** A token instead of the number, which would show every account how busy the whole instance is. */
export const positionOf = ({ webhooks }: Service, { position }: TableInUse) => ({
  'x-log-position': webhooks.box.tokenOf(`position ${position}`),
});

/** Finds a code or throws 404. Called before the warehouse is queried, so that a 404 does not depend on the warehouse. */
export async function requireCode({ sql }: Service, owner: Owner, id: string | undefined) {
  const code = await findCode(sql, owner, id ?? '');
  if (code === undefined) throw await codeNotFound(sql, owner, id ?? '');
  return code;
}

/** The scans of one code that a query selects. */
export const scansOfCode = ({ account, mode, id }: Code, period: Period, query: FilterQuery): Selection => ({
  account,
  mode,
  codes: { only: id },
  ...period,
  ...filtersOf(query),
});

/** Reads of one account at a time, one fewer than the embedded ClickHouse runs, so that others never wait for all of them. */
const maxReads = 3;
const maxWaitingReads = 64;
const reads = new SemaphorePerKey(maxReads, maxWaitingReads);

export const tooManyReads = () =>
  retryLater('The account has too many reads of analytics at once: try again in a few seconds.');

/**
 * Reads from the table in use, with a timeout. Retries once if a replay has just replaced that table. More than three reads of
 * an account wait for one another.
 */
export async function readWarehouse<T>(
  { sql, warehouse }: Pick<Service, 'sql' | 'warehouse'>,
  { account }: Pick<Owner, 'account'>,
  read: (reading: Reading, table: TableInUse) => Promise<T>,
  signal: AbortSignal = AbortSignal.timeout(timeouts.analyticsReadMs),
): Promise<{ table: TableInUse; found: T }> {
  let hasBegun = false;
  const attempt = async () => {
    hasBegun = true;
    const table = await tableInUse(sql);
    return {
      table,
      found: await read({ warehouse, version: table.version, definition: table.definition, signal }, table),
    };
  };
  const retried = () =>
    attempt().catch((error) => {
      if (isUnknownTable(error)) return attempt();
      throw error;
    });
  try {
    // Ends with the signal even if ClickHouse or Postgres never answers: the account would have one read fewer for good.
    return await reads.run(account, () => beforeAbort(signal, retried()), signal);
  } catch (error) {
    if (error instanceof QueueFull || (!hasBegun && signal.aborted)) throw tooManyReads();
    throw error === signal.reason ? classifyReadError(error) : error;
  }
}
