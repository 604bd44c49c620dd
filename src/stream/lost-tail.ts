import type { JetStreamManager } from 'nats';
import type { LogRange } from '../../events/entry.ts';
import { subjectOf } from '../../events/webhooks/notification.ts';
import { isDeliverable } from '../../events/webhooks/webhook-events.ts';
import { NewerVersion } from '../../events/wire/newer-version.ts';
import { decodeMessage, rangeOf } from '../../events/wire/stream-message.ts';
import { counters } from '../../projections/counters.ts';
import { ledger } from '../../projections/warehouse-ledger.ts';
import { type LostEntry, webhooks } from '../../projections/webhooks.ts';
import type { Queryable, Sql } from '../lib/sql.ts';
import { floorOfLog, raiseFloor } from '../log/floor.ts';
import { findMessage, findStream } from './jetstream.ts';

/** Events that the stream or a projection received, and that the log no longer has. */
export interface LostTail {
  /** Up to this position the log is unchanged. */
  agreedTo: number;
  /** The last position of which the stream or a projection has an event that the log may have lost. */
  lostTo: number;
  /** Lost entries that webhooks report and that were found in the stream, up to `maxReported`. */
  reported: LostEntry[];
}

/**
 * How far back the stream is compared. A relay notices within seconds that it is connected to another Postgres server;
 * until then it may have published events of the new log after the lost ones.
 */
const compareWindowMs = 10_000;
/** More are lost only when the database is new or was restored, and then it has no deliveries to remove. */
const maxReported = 100_000;

/**
 * Compares the end of the stream with the log, event by event. Comparing positions is not enough, because the log may
 * have grown past the lost tail by now.
 *
 * A replica has a prefix of the log, so only its end can be lost. A lost batch that was not acknowledged is sent again,
 * and can get the same positions; that is not a difference.
 */
export async function findLostTail(
  sql: Queryable,
  manager: JetStreamManager,
  stream: string,
  signal: AbortSignal,
): Promise<LostTail | undefined> {
  const floor = await floorOfLog(sql);
  const info = await findStream(manager, stream);
  if (info === undefined) return undefined;
  const { state } = info;
  let newest: number | undefined;
  let lost: LostTail | undefined;
  for (let sequence = state.last_seq; sequence >= Math.max(state.first_seq, 1); sequence--) {
    signal.throwIfAborted();
    const message = await findMessage(manager, stream, sequence);
    if (message === undefined) continue;
    if (rangeOf(message.data).to <= floor) break;
    newest ??= message.time.getTime();
    const isOld = message.time.getTime() < newest - compareWindowMs;
    const range = decodeIfKnown(message.data);
    if (range === undefined) {
      // Written by a relay of a newer version, which compares it when it is elected again.
      if (isOld) break;
      continue;
    }
    const idsByPosition = await idsInLog(sql, range);
    if (!isSame(range, idsByPosition)) {
      const reported = range.entries
        .filter(isDeliverable)
        .filter(({ id, position }) => idsByPosition.get(position) !== id)
        .map((entry) => ({ id: entry.id, ...subjectOf(entry) }));
      lost = {
        agreedTo: range.after,
        lostTo: Math.max(lost?.lostTo ?? 0, range.to),
        reported: (lost?.reported ?? []).concat(reported).slice(0, maxReported),
      };
    } else if (isOld) break;
  }
  return lost && { ...lost, agreedTo: Math.max(lost.agreedTo, floor) };
}

/** Undefined for a message in a newer format. */
function decodeIfKnown(data: Uint8Array): LogRange | undefined {
  try {
    return decodeMessage(data);
  } catch (error) {
    if (error instanceof NewerVersion) return undefined;
    throw error;
  }
}

/** Ids of the events and scans of the log in this range, by position. */
async function idsInLog(sql: Queryable, { after, to }: LogRange): Promise<Map<number, string>> {
  const rows = await sql<{ position: number; id: string }[]>`
    SELECT position, id FROM scans WHERE position > ${after} AND position <= ${to}
    UNION ALL SELECT position, id FROM events WHERE position > ${after} AND position <= ${to}`;
  return new Map(rows.map(({ position, id }) => [position, id]));
}

const isSame = ({ entries }: LogRange, idsByPosition: Map<number, string>) =>
  entries.length === idsByPosition.size && entries.every(({ position, id }) => idsByPosition.get(position) === id);

/**
 * Abandons the lost tail in one transaction: the log continues at unused positions, and projections that may contain the
 * tail are rebuilt from the log. Webhook deliveries of lost entries are removed; no delivery is created twice.
 */
export const abandonTail = (sql: Sql, { agreedTo, lostTo, reported }: LostTail): Promise<number> =>
  sql.begin(async (tx) => {
    await counters.invalidate(tx);
    await webhooks.rewind(tx, agreedTo, reported);
    await ledger.retireAll(tx);
    return raiseFloor(tx, lostTo);
  });
