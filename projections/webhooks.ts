import { isAlertOutcome } from '../events/alert.ts';
import { isCodeEvent } from '../events/catalogue.ts';
import { isScan, type LogEntry, type LogRange } from '../events/entry.ts';
import type { Owner } from '../events/owner.ts';
import { type EndpointKey, endpointKey } from '../events/webhooks/endpoint.ts';
import { type Notification, notificationId, notificationOf, subjectOf } from '../events/webhooks/notification.ts';
import { type BodyFormat, passes } from '../events/webhooks/webhook.ts';
import { codeOfEntry, webhookEventTypeOf } from '../events/webhooks/webhook-events.ts';
import type { Queryable, Sql, Transaction } from '../src/lib/sql.ts';
import { moveCheckpoint, readCheckpoint } from './checkpoint.ts';
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
 * `deliveries`: one for each webhook and each entry that passes its filter and was appended while the webhook was enabled and
 * the account had a plan that includes webhooks. All of that is in the log, so the result depends on the order of the log and
 * not on when this runs.
 *
 * It handles scans, events of codes and webhooks, what alerts have found, plan changes and account deletions. Its checkpoint moves in the
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
    const [row] = await sql<[{ position: number; is_rewound: boolean }]>`
      SELECT position, is_rewound FROM checkpoints WHERE projection = 'webhooks'`;
    return row.is_rewound ? sql.begin(endRewind) : row.position;
  },

  /**
   * Moves the checkpoint back to `to`, and removes the deliveries of lost entries. `is_rewound` is set until the projection
   * restarts, so that a running one at this position cannot apply lost events that it has already received; a second rewind
   * before that can move it further back. Applying an entry again creates no second delivery, because the id of a delivery is
   * derived from the id of its entry. `checkpoint` then rebuilds the endpoints, since the caller has the append lock.
   */
  async rewind(tx: Transaction, to: number, lost: LostEntry[]): Promise<void> {
    await tx`
      UPDATE checkpoints SET position = least(position, ${to}), is_rewound = true WHERE projection = 'webhooks'`;
    if (lost.length > 0) await removeDeliveries(tx, to, lost);
  },

  /** Returns the endpoints with new deliveries. */
  async apply(sql: Sql, { after, to, entries }: LogRange, now: Date): Promise<EndpointKey[]> {
    return sql.begin(async (tx) => {
      await moveCheckpoint(tx, 'webhooks', { after, to });
      return store(tx, await prepare(tx, after, entries), now);
    });
  },

  /**
   * Creates deliveries of a range ahead of the checkpoint, unless that has passed the range; `apply` creates none of them again. Nothing
   * from the checkpoint to the end of the range may change endpoints of the accounts that these entries belong to.
   */
  async applyAhead(sql: Sql, { after, to, entries }: LogRange, now: Date): Promise<EndpointKey[]> {
    return sql.begin(async (tx): Promise<EndpointKey[]> => {
      const prepared = await prepare(tx, after, entries);
      // Read after the endpoints are locked: what changes them after the range also moves the checkpoint beyond it.
      if ((await readCheckpoint(tx, 'webhooks')) > to) return [];
      return store(tx, prepared, now);
    });
  },

  /** The entries that can create deliveries or change endpoints, in log order, by account. */
  async byAccount(sql: Queryable, entries: LogEntry[]): Promise<ReadonlyMap<string, LogEntry[]>> {
    const owners = await ownersOfChanged(sql, entries);
    const byAccount = Map.groupBy(entries, (entry) => accountOfEntry(entry, owners) ?? '');
    byAccount.delete('');
    return byAccount;
  },
};

/** What a part of the log does. */
interface Prepared {
  changed: Set<Endpoint>;
  due: DueDelivery[];
}

/** Locks the endpoints of these entries, which are in their state at position `after`, and applies the entries to them. */
async function prepare(tx: Transaction, after: number, entries: LogEntry[]): Promise<Prepared> {
  const owners = await ownersOfChanged(tx, entries);
  const accounts = new Set(entries.flatMap((entry) => accountOfEntry(entry, owners) ?? []));
  if (accounts.size === 0) return { changed: new Set(), due: [] };
  const endpoints = new Endpoints(await lockEndpoints(tx, [...accounts]));
  const tagsAt = await tagsFor(tx, endpoints, entries, after);
  return applyEntries(endpoints, entries, owners, tagsAt);
}

/** Returns the endpoints with new deliveries. */
async function store(tx: Transaction, { changed, due }: Prepared, now: Date): Promise<EndpointKey[]> {
  if (changed.size > 0) await saveEndpoints(tx, [...changed]);
  const created = due.length > 0 ? await withoutImported(tx, due) : [];
  return created.length > 0 ? insertDeliveries(tx, created, now) : [];
}

/** Ends a rewind: endpoints and checkpoint are as the log has them up to the position that it returns. */
async function endRewind(tx: Transaction): Promise<number> {
  const [{ position }] = await tx<[{ position: number }]>`
    UPDATE checkpoints SET is_rewound = false WHERE projection = 'webhooks' RETURNING position`;
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
    DELETE FROM deliveries d
    USING jsonb_to_recordset(${tx.json(keys)}) AS k (account text, mode text, entry text, id text)
    JOIN endpoints e ON e.account = k.account AND e.filter ->> 'mode' = k.mode
    WHERE d.account = e.account AND d.webhook = e.webhook AND d.id = k.id
      AND NOT EXISTS (SELECT 1 FROM scans s WHERE s.position > ${to} AND s.id = k.entry)
      AND NOT EXISTS (SELECT 1 FROM events e WHERE e.position > ${to} AND e.id = k.entry)`;
}

/** Owners by code. */
type Owners = ReadonlyMap<string, Owner>;
const noOwners: Owners = new Map();

/** The owners of codes: as an entry names them, else from the table of codes. */
async function ownersOfCodes(sql: Queryable, subjects: ReturnType<typeof subjectOf>[]): Promise<Owners> {
  const owners = new Map<string, Owner>();
  for (const { code, owner } of subjects) if (owner !== undefined) owners.set(code, owner);
  const others = new Set(subjects.map(({ code }) => code).filter((code) => !owners.has(code)));
  if (others.size === 0) return owners;
  const rows = await sql<
    (Owner & { id: string })[]
  >`SELECT id, account, mode FROM codes WHERE id = ANY(${[...others]})`;
  for (const { id, account, mode } of rows) owners.set(id, { account, mode });
  return owners;
}

/** The owners of the codes that these entries change. Scans name theirs. */
async function ownersOfChanged(sql: Queryable, entries: LogEntry[]): Promise<Owners> {
  const changes = entries.flatMap((entry) => (isScan(entry) || !isCodeEvent(entry) ? [] : [subjectOf(entry)]));
  return changes.length === 0 ? noOwners : ownersOfCodes(sql, changes);
}

/** The owner whose webhooks can get an entry; undefined if none can. */
function ownerOfEntry(entry: LogEntry, owners: Owners): Owner | undefined {
  if (isScan(entry)) return entry;
  if (isAlertOutcome(entry)) return { account: entry.stream, mode: entry.data.mode };
  return isCodeEvent(entry) ? owners.get(entry.stream) : undefined;
}

/** The account whose endpoints are needed to apply an entry; undefined if it needs none. */
function accountOfEntry(entry: LogEntry, owners: Owners): string | undefined {
  const owner = ownerOfEntry(entry, owners);
  if (owner !== undefined) return owner.account;
  return changesEndpoints(entry) ? entry.stream : undefined;
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
  body: BodyFormat;
  notification: Notification;
  generation: number;
  /** The replay that creates it, which is sent after all others. */
  replay?: string;
}

/** What an endpoint reports about an entry; undefined if it does not get it. */
function notificationFor({ filter }: Endpoint, entry: LogEntry, tagsAt: TagsAt): Notification | undefined {
  const [type, code] = [webhookEventTypeOf(entry), codeOfEntry(entry)];
  if (type === undefined || code === undefined) return undefined;
  return passes(filter, { type, code, tags: tagsAt(code, entry.position) })
    ? notificationOf(entry, filter.body)
    : undefined;
}

/** A delivery of the entry at a position. */
type DueDelivery = NewDelivery & { position: number };

/** Leaves out what happened before the account came from another instance, which has sent it. */
async function withoutImported(tx: Transaction, due: DueDelivery[]): Promise<NewDelivery[]> {
  const accounts = [...new Set(due.map(({ key }) => key.account))];
  const imports = await tx<{ account: string; after_position: number; to_position: number | null }[]>`
    SELECT DISTINCT ON (account) account, after_position, to_position FROM account_imports
    WHERE account = ANY(${accounts}) ORDER BY account, number DESC`;
  if (imports.length === 0) return due;
  return due.filter(
    ({ key, position }) =>
      !imports.some(
        ({ account, after_position: after, to_position: to }) =>
          account === key.account && position > after && position <= (to ?? position),
      ),
  );
}

/** Changes `endpoints` in log order, and collects the deliveries to create. */
function applyEntries(endpoints: Endpoints, entries: LogEntry[], owners: Owners, tagsAt: TagsAt): Prepared {
  const changed = new Set<Endpoint>();
  const due: DueDelivery[] = [];
  for (const entry of entries) {
    const owner = ownerOfEntry(entry, owners);
    if (owner !== undefined) {
      for (const endpoint of endpoints.of(owner)) {
        const notification = isActive(endpoint) ? notificationFor(endpoint, entry, tagsAt) : undefined;
        if (notification === undefined) continue;
        const { filter, generation } = endpoint;
        due.push({ key: endpoint, body: filter.body, notification, generation, position: entry.position });
      }
    } else if (changesEndpoints(entry)) {
      for (const endpoint of endpoints.changeBy(entry)) changed.add(endpoint);
    }
  }
  return { changed, due };
}

/** Creates deliveries that do not exist, and makes their endpoints due; returns these endpoints. */
export async function insertDeliveries(tx: Transaction, due: NewDelivery[], now: Date): Promise<EndpointKey[]> {
  const rows = due.map(({ key: { account, webhook }, body, notification, generation, replay = null }) => {
    const { occurred_at, scanned_at, data, ...columns } = columnsOf(notification, body);
    return {
      ...columns,
      occurred_at: occurred_at?.toISOString() ?? null,
      scanned_at: scanned_at?.toISOString() ?? null,
      // As text, because jsonb would change the order of the fields.
      data: data === null ? null : JSON.stringify(data),
      account,
      webhook,
      generation,
      replay,
    };
  });
  await tx`
    INSERT INTO deliveries
      (id, account, webhook, type, code, occurred_at, data, scanned_at, country, city, device, is_unique, generation,
        replay, low_priority, due_at, created_at)
    SELECT id, account, webhook, type, code, occurred_at, data::json, scanned_at, country, city, device, is_unique,
      generation, replay, replay IS NOT NULL, ${now}, ${now}
    FROM jsonb_to_recordset(${tx.json(rows)}) AS r
      (id text, account text, webhook text, type text, code text, occurred_at timestamptz, data text,
        scanned_at timestamptz, country text, city text, device text, is_unique boolean, generation integer, replay text)
    ON CONFLICT DO NOTHING`;
  const byKey = new Map(
    due.map(({ key: { account, webhook } }) => [endpointKey({ account, webhook }), { account, webhook }]),
  );
  const keys = [...byKey.values()];
  await tx`
    UPDATE endpoints e SET due_at = least(e.due_at, ${now})
    FROM jsonb_to_recordset(${tx.json(keys)}) AS k (account text, webhook text)
    WHERE e.account = k.account AND e.webhook = k.webhook`;
  return keys;
}
