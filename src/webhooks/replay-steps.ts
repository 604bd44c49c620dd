import type { EndpointKey } from '../../events/webhooks/endpoint.ts';
import { notificationOf } from '../../events/webhooks/notification.ts';
import type { BodyFormat } from '../../events/webhooks/webhook.ts';
import { insertDeliveries } from '../../projections/webhooks.ts';
import { accountTurn } from '../lib/account-turns.ts';
import type { Queryable, Sql, Transaction } from '../lib/sql.ts';
import { firstTooLarge } from '../log/read.ts';
import { countSelected, newEntries, nextPart, type Selected, selectNext } from './replay-selection.ts';
import type { Replay, ReplayStatus } from './replays.ts';

/**
 * A replay runs in steps, each in its own transaction; any process may run the next one.
 *
 * 1. Count the next part of the log, until all of it is counted.
 * 2. Add up the outcomes of the deliveries that were waiting for their first attempt.
 * 3. If few are left, select the next ones of the part that is counted. They have a low priority: they are sent after all
 *    other deliveries of the webhook.
 *
 * The number of waiting deliveries is limited, so a replay of any size is canceled at once, and needs little memory.
 */
export type ReplayStep = 'progressed' | 'waiting' | 'ended';

/**
 * Entries of the account that one step reads, or positions where it is not known which entries are the account's: about 0.1 s, so
 * that replays of other accounts get their turn.
 */
const maxRead = 10_000;
/** Deliveries of one replay that wait for their first attempt. */
const maxOutstanding = 500;
const selectBelow = 250;
/** While the receiver fails, only this many are sent in each period. */
const probeCount = 8;
const probeEveryMs = 30_000;

/** Ids of the replays that are running. */
export async function runningReplays(sql: Queryable): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    SELECT id FROM endpoint_replays
    WHERE status = 'running' AND account NOT IN (SELECT id FROM accounts WHERE suspended_at IS NOT NULL)
    ORDER BY id`;
  return rows.map(({ id }) => id);
}

/** Runs the next step of a replay, and returns its endpoint if it has new deliveries. */
export const replayNext = (
  sql: Sql,
  id: string,
  now: Date,
): Promise<{ step: ReplayStep; wake: EndpointKey | undefined }> =>
  sql.begin(async (tx) => {
    const [replay] = await tx<Replay[]>`
      SELECT * FROM endpoint_replays WHERE id = ${id} AND status = 'running' FOR UPDATE SKIP LOCKED`;
    if (replay === undefined) return { step: 'ended', wake: undefined };
    const isCounting = await countPart(tx, replay);
    await addOutcomes(tx, replay);
    const chosen = await chooseNext(tx, replay, now);
    const { account, webhook } = replay;
    const [endpoint] = await tx<{ generation: number; is_on: boolean; body: BodyFormat }[]>`
      SELECT generation, is_set AND is_paid AS is_on, filter ->> 'body' AS body FROM endpoints
      WHERE account = ${account} AND webhook = ${webhook} FOR UPDATE`;
    const end = async (status: ReplayStatus) => {
      await tx`UPDATE endpoints SET replaying = false WHERE account = ${account} AND webhook = ${webhook}`;
      const total = status === 'done' ? replay.selected : replay.total;
      await save(tx, { ...replay, status, total, outstanding: [], ended_at: now });
      return { step: 'ended' as const, wake: undefined };
    };
    // Deliveries that wait are marked as failed with the reason (upkeep.ts).
    if (!endpoint?.is_on || endpoint.generation !== replay.generation) return end('stopped');
    await enqueue(tx, replay, endpoint.body, chosen, now);
    if (!isCounting && replay.selected_to >= replay.to_position && replay.outstanding.length === 0) return end('done');
    await save(tx, replay);
    const hasDue = replay.outstanding.length > 0;
    if (hasDue) await makeDue(tx, replay, now);
    const hasMore =
      isCounting || (chosen.length === 0 && replay.selected_to < replay.counted_to && !isPaused(replay, now));
    return { step: hasMore ? 'progressed' : 'waiting', wake: hasDue ? { account, webhook } : undefined };
  });

const isPaused = ({ paused_until }: Replay, now: Date) => paused_until !== null && paused_until > now;

/** Counts the next part of the log; returns whether there is more to count. */
export async function countPart(tx: Queryable, replay: Replay): Promise<boolean> {
  const { counted_to, to_position } = replay;
  if (counted_to >= to_position) return false;
  const part = await nextPart(tx, replay, { after: counted_to, to: to_position }, maxRead);
  replay.total += await countSelected(tx, replay, part);
  replay.counted_to = part.to;
  return part.to < to_position;
}

/** Counts without sending, until all is counted or the time is over; returns the replay. */
export async function countFor(sql: Sql, replay: Replay, timeoutMs: number): Promise<Replay> {
  const deadline = performance.now() + timeoutMs;
  for (let current = replay; ; ) {
    if (current.counted_to >= current.to_position || current.status !== 'running' || performance.now() > deadline)
      return current;
    current = await accountTurn(replay.account, () => sql.begin((tx) => countLocked(tx, replay.id)));
  }
}

async function countLocked(tx: Transaction, id: string): Promise<Replay> {
  const [replay] = await tx<[Replay]>`SELECT * FROM endpoint_replays WHERE id = ${id} FOR UPDATE`;
  if (replay.status !== 'running') return replay;
  await countPart(tx, replay);
  await save(tx, replay);
  return replay;
}

/** Adds up the outcomes of deliveries that have had their first attempt. */
export async function addOutcomes(tx: Queryable, replay: Replay): Promise<void> {
  if (replay.outstanding.length === 0) return;
  const { account, webhook, outstanding } = replay;
  const rows = await tx<{ id: string; status: string; tries: number }[]>`
    SELECT id, status, tries FROM deliveries
    WHERE account = ${account} AND webhook = ${webhook} AND id = ANY(${outstanding})`;
  const isWaiting = ({ status, tries }: (typeof rows)[number]) => status === 'pending' && tries === 0;
  for (const row of rows) {
    if (isWaiting(row)) continue;
    if (row.status === 'delivered') replay.delivered++;
    else replay.failed++;
  }
  replay.outstanding = rows.filter(isWaiting).map(({ id }) => id);
}

/** Selects the next deliveries, unless enough wait; while the receiver fails, a few from time to time. */
async function chooseNext(tx: Queryable, replay: Replay, now: Date): Promise<Selected[]> {
  const { account, webhook, outstanding } = replay;
  if (outstanding.length > selectBelow || replay.selected_to >= replay.counted_to) return [];
  const [endpoint] = await tx<{ is_failing: boolean }[]>`
    SELECT failing_since IS NOT NULL AS is_failing FROM endpoints WHERE account = ${account} AND webhook = ${webhook}`;
  if (!endpoint?.is_failing) replay.paused_until = null;
  else if (isPaused(replay, now)) return [];
  else replay.paused_until = new Date(now.getTime() + probeEveryMs);
  const limit = endpoint?.is_failing ? probeCount : maxOutstanding - outstanding.length;
  return selectFrom(tx, replay, limit);
}

/** Reads few entries first, since most of them may be selected, and more while few are. */
export async function selectFrom(tx: Queryable, replay: Replay, limit: number): Promise<Selected[]> {
  const chosen: Selected[] = [];
  for (let read = limit; read <= maxRead && replay.selected_to < replay.counted_to; read *= 4) {
    const missing = limit - chosen.length;
    const part = await nextPart(tx, replay, { after: replay.selected_to, to: replay.counted_to }, read);
    const next = await selectNext(tx, replay, part, missing);
    chosen.push(...next);
    replay.selected_to = next.length === missing ? (next.at(-1)?.position ?? part.to) : part.to;
    if (next.length === missing) break;
  }
  const tooLarge = await firstTooLarge(
    tx,
    chosen.map(({ position }) => position),
  );
  if (tooLarge === undefined) return chosen;
  replay.selected_to = tooLarge - 1;
  return chosen.filter(({ position }) => position < tooLarge);
}

async function enqueue(
  tx: Transaction,
  replay: Replay,
  body: BodyFormat,
  chosen: Selected[],
  now: Date,
): Promise<void> {
  if (chosen.length === 0) return;
  const { id: replayId, account, webhook, generation } = replay;
  const key = { account, webhook };
  const again = chosen.filter(({ exists }) => exists).map(({ id }) => id);
  // `error` stays for the case that the replay is canceled.
  await tx`
    UPDATE deliveries SET status = 'pending', due_at = ${now}, tries = 0, finished_at = NULL,
      generation = ${generation}, low_priority = true
    WHERE account = ${account} AND webhook = ${webhook} AND id = ANY(${again}) AND status <> 'pending'`;
  const entries = await newEntries(tx, chosen);
  const deliveries = entries.map((entry) => {
    return { key, body, notification: notificationOf(entry, body), generation, replay: replayId };
  });
  if (deliveries.length > 0) await insertDeliveries(tx, deliveries, now);
  replay.selected += chosen.length;
  replay.outstanding = [...replay.outstanding, ...chosen.map(({ id }) => id)];
}

/** Repeated by each step, because a worker may have postponed the endpoint meanwhile. */
async function makeDue(tx: Queryable, { account, webhook }: Replay, now: Date): Promise<void> {
  await tx`
    UPDATE endpoints SET replaying = true, due_at = least(due_at, ${now})
    WHERE account = ${account} AND webhook = ${webhook} AND (NOT replaying OR due_at IS NULL OR due_at > ${now})`;
}

async function save(tx: Queryable, replay: Replay): Promise<void> {
  const { id, status, total, selected, outstanding, delivered, failed, counted_to, selected_to } = replay;
  await tx`
    UPDATE endpoint_replays SET status = ${status}, total = ${total}, selected = ${selected}, outstanding = ${outstanding},
      delivered = ${delivered}, failed = ${failed}, counted_to = ${counted_to}, selected_to = ${selected_to},
      paused_until = ${replay.paused_until}, ended_at = ${replay.ended_at}
    WHERE id = ${id}`;
}
