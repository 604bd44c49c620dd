import type { Code } from '../../../events/code.ts';
import type { Owner } from '../../../events/owner.ts';
import { isUnknownTable } from '../../analytics/errors.ts';
import type { Reading } from '../../analytics/reading.ts';
import type { Selection } from '../../analytics/selection.ts';
import { type TableInUse, tableInUse } from '../../analytics/table-in-use.ts';
import { codeNotFound, findCode } from '../../codes/codes.ts';
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
  ...{ account, mode, codes: { only: id } },
  ...period,
  ...filtersOf(query),
});

/** Reads from the table in use, with a timeout. Retries once if a replay has just replaced that table. */
export async function readWarehouse<T>(
  { sql, warehouse }: Service,
  read: (reading: Reading, table: TableInUse) => Promise<T>,
  signal: AbortSignal = AbortSignal.timeout(timeouts.analyticsReadMs),
): Promise<{ table: TableInUse; found: T }> {
  const attempt = async () => {
    const table = await tableInUse(sql);
    return {
      table,
      found: await read({ warehouse, version: table.version, definition: table.definition, signal }, table),
    };
  };
  try {
    return await attempt();
  } catch (error) {
    if (isUnknownTable(error)) return attempt();
    throw error;
  }
}
