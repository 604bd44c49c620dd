import type { JetStreamManager } from 'nats';
import type { LogRange } from '../../events/entry.ts';
import { counters } from '../../projections/counters.ts';
import { ledger } from '../../projections/warehouse-ledger.ts';
import { webhooks } from '../../projections/webhooks.ts';
import type { Queryable, Sql } from '../log/connect.ts';
import { floorOfLog, raiseFloor } from '../log/floor.ts';
import { findMessage } from './jetstream.ts';
import { decode } from './messages.ts';

/** Events that the stream, or a projection, has from the log, and that the log does not have any more. */
export interface LostTail {
  /** Up to here the log is what it was. */
  agreedTo: number;
  /** Up to here events are known that the log may have lost. */
  lostTo: number;
}

/**
 * How far back the stream is compared. A relay notices within seconds that Postgres is another server: until then it may
 * have published events of the new log behind those that were lost.
 */
const comparedMs = 10_000;

/**
 * Compares the end of the stream with the log, event by event: by the time that anything is compared, the log may have
 * grown beyond what it lost.
 *
 * A replica has a prefix of the log, so what is lost is the end of it. Of a batch that was lost without having been
 * acknowledged, the very same scans can come again at the very same positions; those are no difference.
 */
export async function findLostTail(
  sql: Queryable,
  manager: JetStreamManager,
  stream: string,
): Promise<LostTail | undefined> {
  const floor = await floorOfLog(sql);
  const { state } = await manager.streams.info(stream);
  let newest: number | undefined;
  let lost: LostTail | undefined;
  for (let sequence = state.last_seq; sequence >= Math.max(state.first_seq, 1); sequence--) {
    const message = await findMessage(manager, stream, sequence);
    if (message === undefined) continue;
    const range = decode(message.data);
    if (range.to <= floor) break;
    newest ??= message.time.getTime();
    if (!(await isInLog(sql, range))) lost = { agreedTo: range.after, lostTo: Math.max(lost?.lostTo ?? 0, range.to) };
    else if (message.time.getTime() < newest - comparedMs || lost !== undefined) break;
  }
  return lost && { agreedTo: Math.max(lost.agreedTo, floor), lostTo: lost.lostTo };
}

/** Whether the log has exactly these entries between `after` and `to`. */
async function isInLog(sql: Queryable, { after, to, entries }: LogRange): Promise<boolean> {
  const rows = await sql<{ position: number; id: string }[]>`
    SELECT position, id FROM scans WHERE position > ${after} AND position <= ${to}
    UNION ALL SELECT position, id FROM events WHERE position > ${after} AND position <= ${to}
    ORDER BY position`;
  const isSame = ({ position, id }: { position: number; id: string }, i: number) =>
    entries[i]?.position === position && entries[i]?.id === id;
  return rows.length === entries.length && rows.every(isSame);
}

/**
 * Gives the lost tail up, in one transaction: the log goes on at positions of its own, and whatever may contain the tail
 * is rebuilt from the log. Deliveries of webhooks are not sent again, except where they were never made.
 */
export const abandonTail = (sql: Sql, { agreedTo, lostTo }: LostTail): Promise<number> =>
  sql.begin(async (tx) => {
    const floor = await raiseFloor(tx, lostTo);
    await counters.invalidate(tx);
    await webhooks.rewind(tx, agreedTo);
    await ledger.giveUpAll(tx);
    return floor;
  });
