import { erasedSchema, type StoredEvent } from '../../events/catalogue.ts';
import { type Code, eraseCode } from '../../events/code.ts';
import type { CodeErased } from '../../events/code-events.ts';
import { type NewEvent, operator, type Recorded } from '../../events/recorded.ts';
import { writeState } from '../../projections/state.ts';
import type { Transaction } from '../lib/sql.ts';
import { appendAndCommit, prepare } from '../log/append.ts';
import { withExpectedPositions } from '../log/expected-positions.ts';

/** What becomes of an event that is erased. Its actor keeps the key, without the program that acted with it, which named itself. */
export const erasedColumns = (tx: Transaction) =>
  tx`data = '{}', schema = ${erasedSchema}, actor = split_part(actor, '/', 1)`;

/** The events of a step with 200 codes are inserted in 10 to 19 ms, for which all other appends wait. */
const maxCodesPerStep = 200;

/**
 * Erases the next codes of a deleted account, and commits; returns whether there were any. `deleted_at` is the position of
 * account_deleted.
 */
export async function eraseCodes(
  tx: Transaction,
  { account, deleted_at }: { account: string; deleted_at: number },
  now: Date,
): Promise<boolean> {
  // Codes that were deleted before the account still have to be erased. An erased code has the position of its
  // code_erased, which is after account_deleted.
  const codes = await tx<Code[]>`
    (SELECT * FROM codes WHERE account = ${account} AND status <> 'deleted' LIMIT ${maxCodesPerStep})
    UNION ALL
    (SELECT * FROM codes
      WHERE account = ${account} AND mode IN ('live', 'test') AND status = 'deleted' AND position < ${deleted_at}
      LIMIT ${maxCodesPerStep})
    LIMIT ${maxCodesPerStep}`;
  if (codes.length === 0) return false;
  const ids = codes.map(({ id }) => id);
  const deletions = codes.filter(({ status }) => status !== 'deleted').map(deletionOf);
  const pending = prepare([...deletions, ...codes.map(erasureOf)], { actor: operator, now });
  await writeState(tx, { codes }, (await withExpectedPositions(tx, pending)).filter(isErasure));
  // In this order, because a process that seals a key moves it from the first table to the second.
  await tx`DELETE FROM unsealed_visitor_keys WHERE code = ANY(${ids})`;
  await tx`DELETE FROM visitor_keys WHERE code = ANY(${ids})`;
  await tx`DELETE FROM code_passwords WHERE code = ANY(${ids})`;
  await tx`
    UPDATE events SET ${erasedColumns(tx)} WHERE stream = ANY(${ids}) AND schema <> ${erasedSchema}`;
  const [{ before }] = await tx<[{ before: number }]>`
    SELECT coalesce(max(position), 0) AS before FROM events WHERE stream = ANY(${ids}) AND type = 'code_deleted'`;
  const last = tx`(SELECT last_value FROM log_position)`;
  const ended = deletions.length === 0 ? tx`${before}::bigint` : tx`${last} - ${codes.length}::bigint`;
  await appendAndCommit(tx, pending, () => [
    tx`
      UPDATE erasures SET appended_to = ${last}, ended_to = greatest(ended_to, ${ended})
      WHERE account = ${account}`,
  ]);
  return true;
}

/** The deletion of a code, without its data from the start: its earlier events have none, which it would need. */
const deletionOf = ({ id, version }: Code): NewEvent<StoredEvent> => ({
  stream: id,
  version: version + 1,
  event: { type: 'erased', data: { type: 'code_deleted' } },
});

const erasureOf = (code: Code): NewEvent<StoredEvent> => ({
  stream: code.id,
  version: code.version + (code.status === 'deleted' ? 1 : 2),
  event: eraseCode(code),
});

const isErasure = (event: Recorded<StoredEvent>): event is Recorded<CodeErased> => event.type === 'code_erased';
