import { isCodeEvent } from '../events/catalogue.ts';
import { type EndpointKey, endpointKey } from '../events/endpoint.ts';
import { isScan, type LogEntry, type LogRange } from '../events/entry.ts';
import { isReported, type Notification, notificationId, notificationOf, subjectOf } from '../events/notification.ts';
import type { Owner } from '../events/owner.ts';
import { passes } from '../events/subscription.ts';
import { codeOfEntry, eventNotificationOf, webhookEventTypeOf } from '../events/webhook-events.ts';
import type { Sql, Transaction } from '../src/lib/sql.ts';
import { moveCheckpoint } from './checkpoint.ts';
import { columnsOf } from './delivery-columns.ts';
import { lockEndpoints, saveEndpoints } from './endpoint-table.ts';
import { rebuildEndpoints } from './rebuild-endpoints.ts';
import { noTags, readTagsAfter, type TagsAt } from './tags-at.ts';
import { changesEndpoints, type Endpoint, Endpoints, isActive } from './webhook-endpoints.ts';

/** An entry that webhooks report, and that the log has lost. */
export interface LostEntry extends ReturnType<typeof subjectOf> {
  id: string;
}

/**
 * `webhook_deliveries`: one for each webhook and each entry that was appended while the webhook was enabled and the account
 * had a plan that includes webhooks. The webhook of `/v1/account/webhook` gets entries with a notification type
 * (events/notification-types.ts), the others get what their filter lets through. All of that is in the log, so the result
 * depends on the order of the log and not on when this runs.
 *
 * It handles scans, events of codes and webhooks, plan changes and account deletions. Its checkpoint moves in the
 * transaction that creates the deliveries. It is never rebuilt, because a sent request cannot be undone; without a
 * checkpoint it starts at the end of the log.
 */
export const webhooks = {
  name: 'webhooks',

  async checkpoint(sql: Sql): Promise<number> {
    await sql`
      INSERT INTO checkpoints
      SELECT 'webhooks', greatest(
        (SELECT max(position) FROM scans), (SELECT max(to_position) FROM archives), (SELECT max(position) FROM events), 0)
      ON CONFLICT DO NOTHING`;
    const [row] = await sql<[{ position: number }]>`SELECT position FROM checkpoints WHERE projection = 'webhooks'`;
    return row.position < 0 ? sql.begin(endRewind) : row.position;
  },

  /**
   * Moves the checkpoint back to `to`, and removes the deliveries of lost entries. The position p is stored as -1 - p until
   * the projection restarts, so that a running one at p cannot apply lost events that it has already received; a second
   * rewind before that can move it further back. Applying an entry again creates no second delivery, because the id of a
   * delivery is derived from the id of its entry. `checkpoint` then rebuilds the endpoints, since the caller has the append
   * lock.
   */
  async rewind(tx: Transaction, to: number, lost: LostEntry[]): Promise<void> {
    await tx`
      UPDATE checkpoints SET position = greatest(CASE WHEN position < 0 THEN position ELSE -1 - position END, ${-1 - to})
      WHERE projection = 'webhooks'`;
    if (lost.length > 0) await removeDeliveries(tx, to, lost);
  },

  /** Returns the endpoints with new deliveries. */
  async apply(sql: Sql, { after, to, entries }: LogRange, now: Date): Promise<EndpointKey[]> {
    return sql.begin(async (tx) => {
      await moveCheckpoint(tx, 'webhooks', { after, to });
      const owners = await ownersOfChanged(tx, entries);
      const accounts = accountsIn(entries, owners);
      if (accounts.length === 0) return [];
      const endpoints = new Endpoints(await lockEndpoints(tx, accounts));
      const tagsAt = await tagsFor(tx, endpoints, entries, after);
      const { changed, due } = applyEntries(endpoints, entries, owners, tagsAt);
      if (changed.size > 0) await saveEndpoints(tx, [...changed]);
      return due.length > 0 ? insertDeliveries(tx, due, now) : [];
    });
  },
};

/** Ends a rewind: endpoints and checkpoint are as the log has them up to the position that it returns. */
async function endRewind(tx: Transaction): Promise<number> {
  await tx`UPDATE checkpoints SET position = -1 - position WHERE projection = 'webhooks' AND position < 0`;
  const [{ position }] = await tx<[{ position: number }]>`
    SELECT position FROM checkpoints WHERE projection = 'webhooks' FOR UPDATE`;
  await rebuildEndpoints(tx, position);
  return position;
}

/** Removes the deliveries of entries that the log has lost after position `to`. */
async function removeDeliveries(tx: Transaction, to: number, lost: LostEntry[]): Promise<void> {
  const owners = await ownersOfCodes(tx, lost);
  const keys = lost.flatMap(({ id, code, owner = owners.get(code) }) =>
    owner === undefined ? [] : [{ ...owner, entry: id, id: notificationId(id) }],
  );
  // A lost batch that was not acknowledged was sent again, and is in the log at other positions.
  await tx`
    DELETE FROM webhook_deliveries d
    USING jsonb_to_recordset(${tx.json(keys)}) AS k (account text, mode text, entry text, id text)
    JOIN webhook_endpoints e ON e.account = k.account AND coalesce(e.filter ->> 'mode', e.mode) = k.mode
    WHERE d.account = e.account AND d.mode = e.mode AND d.id = k.id
      AND NOT EXISTS (SELECT 1 FROM scans s WHERE s.position > ${to} AND s.id = k.entry)
      AND NOT EXISTS (SELECT 1 FROM events e WHERE e.position > ${to} AND e.id = k.entry)`;
}

/** Owners by code. */
type Owners = ReadonlyMap<string, Owner>;
const noOwners: Owners = new Map();

/** The owners of codes: as an entry names them, else from the table of codes. */
async function ownersOfCodes(tx: Transaction, subjects: ReturnType<typeof subjectOf>[]): Promise<Owners> {
  const owners = new Map<string, Owner>();
  for (const { code, owner } of subjects) if (owner !== undefined) owners.set(code, owner);
  const others = new Set(subjects.map(({ code }) => code).filter((code) => !owners.has(code)));
  if (others.size === 0) return owners;
  const rows = await tx<(Owner & { id: string })[]>`SELECT id, account, mode FROM codes WHERE id = ANY(${[...others]})`;
  for (const { id, account, mode } of rows) owners.set(id, { account, mode });
  return owners;
}

/** The owners of the codes that these entries change. Scans name theirs. */
async function ownersOfChanged(tx: Transaction, entries: LogEntry[]): Promise<Owners> {
  const changes = entries.flatMap((entry) => (isScan(entry) || !isCodeEvent(entry) ? [] : [subjectOf(entry)]));
  return changes.length === 0 ? noOwners : ownersOfCodes(tx, changes);
}

/** The owner of the code that an entry is about; undefined if it is about none. */
function ownerOfEntry(entry: LogEntry, owners: Owners): Owner | undefined {
  if (isScan(entry)) return entry;
  return isCodeEvent(entry) ? owners.get(entry.stream) : undefined;
}

/** The accounts whose endpoints are needed to apply these entries. */
function accountsIn(entries: LogEntry[], owners: Owners): string[] {
  const accounts = new Set<string>();
  for (const entry of entries) {
    const owner = ownerOfEntry(entry, owners);
    if (owner !== undefined) accounts.add(owner.account);
    else if (changesEndpoints(entry)) accounts.add(entry.stream);
  }
  return [...accounts];
}

/** Tags are read only when an endpoint filters by them. */
const tagsFor = async (tx: Transaction, endpoints: Endpoints, entries: LogEntry[], after: number): Promise<TagsAt> =>
  endpoints.filterByTags(entries)
    ? readTagsAfter(
        tx,
        entries.flatMap((entry) => codeOfEntry(entry) ?? []),
        after,
      )
    : noTags;

/** A delivery to create. */
export interface NewDelivery {
  key: EndpointKey;
  notification: Notification;
  generation: number;
  /** The replay that creates it. */
  replay?: string;
}

/** What an endpoint reports about an entry; undefined if it does not get it. */
function notificationFor({ filter }: Endpoint, entry: LogEntry, tagsAt: TagsAt): Notification | undefined {
  if (filter === null) return isReported(entry) ? notificationOf(entry) : undefined;
  const [type, code] = [webhookEventTypeOf(entry), codeOfEntry(entry)];
  if (type === undefined || code === undefined) return undefined;
  return passes(filter, { type, code, tags: tagsAt(code, entry.position) }) ? eventNotificationOf(entry) : undefined;
}

/** Changes `endpoints` in log order, and collects the deliveries to create. */
function applyEntries(
  endpoints: Endpoints,
  entries: LogEntry[],
  owners: Owners,
  tagsAt: TagsAt,
): { changed: Set<Endpoint>; due: NewDelivery[] } {
  const changed = new Set<Endpoint>();
  const due: NewDelivery[] = [];
  for (const entry of entries) {
    const owner = ownerOfEntry(entry, owners);
    if (owner !== undefined) {
      for (const endpoint of endpoints.of(owner)) {
        const notification = isActive(endpoint) ? notificationFor(endpoint, entry, tagsAt) : undefined;
        if (notification === undefined) continue;
        due.push({ key: endpoint, notification, generation: endpoint.generation });
      }
    } else if (changesEndpoints(entry)) {
      for (const endpoint of endpoints.changeBy(entry)) changed.add(endpoint);
    }
  }
  return { changed, due };
}

/** Creates deliveries that do not exist, and makes their endpoints due; returns these endpoints. */
export async function insertDeliveries(tx: Transaction, due: NewDelivery[], now: Date): Promise<EndpointKey[]> {
  const rows = due.map(({ key: { account, mode }, notification, generation, replay = null }) => {
    const { occurred_at, scanned_at, data, ...columns } = columnsOf(notification, mode);
    return {
      ...columns,
      occurred_at: occurred_at?.toISOString() ?? null,
      scanned_at: scanned_at?.toISOString() ?? null,
      // As text, because jsonb would change the order of the fields.
      data: data === null ? null : JSON.stringify(data),
      ...{ account, mode, generation, replay },
    };
  });
  await tx`
    INSERT INTO webhook_deliveries
      (id, account, mode, type, code, occurred_at, data, scanned_at, country, city, device, is_unique, generation,
        replay, due_at, created_at)
    SELECT id, account, mode, type, code, occurred_at, data::json, scanned_at, country, city, device, is_unique,
      generation, replay, ${now}, ${now}
    FROM jsonb_to_recordset(${tx.json(rows)}) AS r
      (id text, account text, mode text, type text, code text, occurred_at timestamptz, data text,
        scanned_at timestamptz, country text, city text, device text, is_unique boolean, generation integer, replay text)
    ON CONFLICT DO NOTHING`;
  const byKey = new Map(due.map(({ key: { account, mode } }) => [endpointKey({ account, mode }), { account, mode }]));
  const keys = [...byKey.values()];
  await tx`
    UPDATE webhook_endpoints e SET due_at = least(e.due_at, ${now})
    FROM jsonb_to_recordset(${tx.json(keys)}) AS k (account text, mode text)
    WHERE e.account = k.account AND e.mode = k.mode`;
  return keys;
}
