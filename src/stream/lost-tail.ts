import type { JetStreamManager } from 'nats';
import { isScan, type LogRange } from '../../events/entry.ts';
import { NewerVersion } from '../../events/wire/newer-version.ts';
import { decodeMessage, rangeOf } from '../../events/wire/stream-message.ts';
import { counters } from '../../projections/counters.ts';
import { ledger } from '../../projections/warehouse-ledger.ts';
import { type LostScan, webhooks } from '../../projections/webhooks.ts';
import type { Queryable, Sql } from '../log/connect.ts';
import { floorOfLog, raiseFloor } from '../log/floor.ts';
import { findMessage } from './jetstream.ts';

/** Events that the stream, or a projection, has from the log, and that the log does not have any more. */
export interface LostTail {
  /** Up to here the log is what it was. */
  agreedTo: number;
  /** Up to here events are known that the log may have lost. */
  lostTo: number;
  /** Scans that are lost, as far as they are known, up to `maxScans`. */
  scans: LostScan[];
}

/**
 * How far back the stream is compared. A relay notices within seconds that Postgres is another server: until then it may
 * have published events of the new log after those that were lost.
 */
const comparedMs = 10_000;
/** More can only be lost from a database that has no deliveries of them: one that is new, or was restored. */
const maxScans = 100_000;

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
  signal: AbortSignal,
): Promise<LostTail | undefined> {
  const floor = await floorOfLog(sql);
  const { state } = await manager.streams.info(stream);
  let newest: number | undefined;
  let lost: LostTail | undefined;
  for (let sequence = state.last_seq; sequence >= Math.max(state.first_seq, 1); sequence--) {
    signal.throwIfAborted();
    const message = await findMessage(manager, stream, sequence);
    if (message === undefined) continue;
    if (rangeOf(message.data).to <= floor) break;
    newest ??= message.time.getTime();
    const isOld = message.time.getTime() < newest - comparedMs;
    const range = readable(message.data);
    if (range === undefined) {
      // Written by a newer relay, which compares it when it leads again.
      if (isOld) break;
      continue;
    }
    const logged = await idsInLog(sql, range);
    if (!isSame(range, logged)) {
      const scans = range.entries.filter(isScan).filter(({ id, position }) => logged.get(position) !== id);
      lost = {
        agreedTo: range.after,
        lostTo: Math.max(lost?.lostTo ?? 0, range.to),
        scans: (lost?.scans ?? [])
          .concat(scans.map(({ account, mode, id }) => ({ account, mode, id })))
          .slice(0, maxScans),
      };
    } else if (isOld) break;
  }
  return lost && { ...lost, agreedTo: Math.max(lost.agreedTo, floor) };
}

function readable(data: Uint8Array): LogRange | undefined {
  try {
    return decodeMessage(data);
  } catch (error) {
    if (error instanceof NewerVersion) return undefined;
    throw error;
  }
}

/** Ids of what the log has in this range, by position. */
async function idsInLog(sql: Queryable, { after, to }: LogRange): Promise<Map<number, string>> {
  const rows = await sql<{ position: number; id: string }[]>`
    SELECT position, id FROM scans WHERE position > ${after} AND position <= ${to}
    UNION ALL SELECT position, id FROM events WHERE position > ${after} AND position <= ${to}`;
  return new Map(rows.map(({ position, id }) => [position, id]));
}

const isSame = ({ entries }: LogRange, logged: Map<number, string>) =>
  entries.length === logged.size && entries.every(({ position, id }) => logged.get(position) === id);

/**
 * Abandons the lost tail, in one transaction: the log continues at positions that were never used, and what may contain
 * the tail is rebuilt from the log. No delivery of a webhook is made twice, and those of lost scans are removed.
 */
export const abandonTail = (sql: Sql, { agreedTo, lostTo, scans }: LostTail): Promise<number> =>
  sql.begin(async (tx) => {
    const floor = await raiseFloor(tx, lostTo);
    await counters.invalidate(tx);
    await webhooks.rewind(tx, agreedTo, scans);
    await ledger.giveUpAll(tx);
    return floor;
  });
