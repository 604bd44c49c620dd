import type { Code } from '../../../events/code.ts';
import type { Owner } from '../../../events/owner.ts';
import { findCode } from '../../codes/codes.ts';
import { type TableInUse, tableInUse } from '../../codes/warehouse-table.ts';
import { notFound } from '../../lib/errors.ts';
import { isUnknownTable } from '../../warehouse/errors.ts';
import { type Reading, readTimeoutMs } from '../../warehouse/reading.ts';
import type { Selection } from '../../warehouse/selection.ts';
import type { Service } from '../service.ts';
import type { Period, PeriodQuery } from './period.ts';

export const tag = 'Analytics';
export const codeParams = { id: 'Identifier of the code, `qr_…`.' };

/** Told with every answer that comes from the warehouse. */
export const positionHeader = {
  'X-Log-Position': {
    description:
      'Names the state of the log that this answer was made from: answers with the same value know the same scans. Opaque, to be compared for equality only.',
    example: 'q0Zk3yJt1nXo8cVbR5mWdA',
  },
};

/** A token in place of the number, which would tell every tenant how much happens on the whole instance. */
export const positionOf = ({ webhooks }: Service, { position }: TableInUse) => ({
  'x-log-position': webhooks.box.tokenOf(`position ${position}`),
});

/** The code, before the warehouse is asked: whoever has none is told so, whatever the warehouse does. */
export async function ownCode({ sql }: Service, owner: Owner, id: string | undefined) {
  const code = await findCode(sql, owner, id ?? '');
  if (code === undefined) throw notFound('QR code');
  return code;
}

/** The scans of a code that a query is about. */
export const ofCode = ({ account, mode, id }: Code, period: Period, { bots = 'include' }: PeriodQuery): Selection => ({
  account,
  mode,
  codes: { only: id },
  ...period,
  bots,
});

/** Reads from the table in use, in bounded time. */
export async function fromWarehouse<T>(
  { sql, warehouse }: Service,
  read: (reading: Reading, table: TableInUse) => Promise<T>,
  signal: AbortSignal = AbortSignal.timeout(readTimeoutMs),
): Promise<{ table: TableInUse; found: T }> {
  const attempt = async () => {
    const table = await tableInUse(sql);
    return { table, found: await read({ warehouse, version: table.version, signal }, table) };
  };
  try {
    return await attempt();
  } catch (error) {
    // A replay has just put another table in its place.
    if (isUnknownTable(error)) return attempt();
    throw error;
  }
}
