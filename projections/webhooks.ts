import { isScan, type LogEntry, type LogRange } from '../events/entry.ts';
import { isReported, type Notification, notificationId, notificationOf, subjectOf } from '../events/notification.ts';
import { type Owner, ownerKey } from '../events/owner.ts';
import { hasWebhooks } from '../events/plans.ts';
import { isWebhookEvent } from '../events/webhook.ts';
import type { Sql, Transaction } from '../src/lib/sql.ts';
import { moveCheckpoint } from './checkpoint.ts';
import { columnsOf } from './delivery-columns.ts';

/** An entry that webhooks report, and that the log has lost. */
export interface LostEntry extends ReturnType<typeof subjectOf> {
  id: string;
}

/** The webhook of one account and mode, at the position of the projection. */
interface Endpoint extends Owner {
  is_set: boolean;
  is_paid: boolean;
  generation: number;
  stopped_by: string | null;
  dropping: boolean;
}

/**
 * `webhook_deliveries`: one for each entry with a notification type (events/notification-types.ts) that was appended while
 * its account had an enabled webhook and a plan that includes webhooks. All of that is in the log, so the result depends on
 * the order of the log and not on when this runs.
 *
 * It handles those entries, webhook events, plan changes and account deletions. Its checkpoint moves in the transaction that
 * creates the deliveries. It is never rebuilt, because a sent request cannot be undone; without a checkpoint it starts at
 * the end of the log.
 */
export const webhooks = {
  name: 'webhooks',

  async checkpoint(sql: Sql): Promise<number> {
    await sql`
      INSERT INTO checkpoints
      SELECT 'webhooks', greatest((SELECT max(position) FROM scans), (SELECT max(position) FROM events), 0)
      ON CONFLICT DO NOTHING`;
    await sql`
      UPDATE checkpoints SET position = -1 - position WHERE projection = 'webhooks' AND position < 0`;
    const [row] = await sql<[{ position: number }]>`SELECT position FROM checkpoints WHERE projection = 'webhooks'`;
    return row.position;
  },

  /**
   * Moves the checkpoint back to `to`, and removes the deliveries of lost entries. The position p is stored as -1 - p until
   * the projection restarts, so that a running one at p cannot apply lost events that it has already received; a second
   * rewind before that can move it further back. Applying an entry again creates no second delivery, because the id of a
   * delivery is derived from that of its entry.
   */
  async rewind(tx: Transaction, to: number, lost: LostEntry[]): Promise<void> {
    await tx`
      UPDATE checkpoints SET position = greatest(CASE WHEN position < 0 THEN position ELSE -1 - position END, ${-1 - to})
      WHERE projection = 'webhooks'`;
    if (lost.length === 0) return;
    const owners = await ownersOfCodes(tx, lost);
    const keys = lost.flatMap(({ id, code, owner = owners.get(code) }) =>
      owner === undefined ? [] : [{ ...owner, entry: id, id: notificationId(id) }],
    );
    // A lost batch that was not acknowledged was sent again, and is in the log at other positions.
    await tx`
      DELETE FROM webhook_deliveries d
      USING jsonb_to_recordset(${tx.json(keys)}) AS k (account text, mode text, entry text, id text)
      WHERE d.account = k.account AND d.mode = k.mode AND d.id = k.id
        AND NOT EXISTS (SELECT 1 FROM scans s WHERE s.position > ${to} AND s.id = k.entry)
        AND NOT EXISTS (SELECT 1 FROM events e WHERE e.position > ${to} AND e.id = k.entry)`;
  },

  /** Returns the owners of the new deliveries. */
  async apply(sql: Sql, { after, to, entries }: LogRange, now: Date): Promise<Owner[]> {
    return sql.begin(async (tx) => {
      await moveCheckpoint(tx, 'webhooks', { after, to });
      const changes = entries.filter(isReported).filter((entry) => !isScan(entry));
      const owners = changes.length === 0 ? noOwners : await ownersOfCodes(tx, changes.map(subjectOf));
      const accounts = accountsIn(entries, owners);
      if (accounts.length === 0) return [];
      const endpoints = await load(tx, accounts);
      const { changed, due } = applyEntries(endpoints, entries, owners);
      if (changed.size > 0) await save(tx, [...changed]);
      return due.length > 0 ? deliver(tx, due, now) : [];
    });
  },
};

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

/** The owner of the code that an entry reports; undefined if the entry reports none. */
function reportedOwner(entry: LogEntry, owners: Owners): Owner | undefined {
  if (!isReported(entry)) return undefined;
  return isScan(entry) ? entry : owners.get(entry.stream);
}

/** The accounts whose endpoints are needed to apply these entries. */
function accountsIn(entries: LogEntry[], owners: Owners): string[] {
  const accounts = new Set<string>();
  for (const entry of entries) {
    const owner = reportedOwner(entry, owners);
    if (owner !== undefined) accounts.add(owner.account);
    else if (isWebhookEvent(entry) || entry.type === 'plan_changed' || entry.type === 'account_deleted')
      accounts.add(entry.stream);
  }
  return [...accounts];
}

/** Locks the endpoints until the commit: a worker that releases one waits, and then sees the new deliveries. */
async function load(tx: Transaction, accounts: string[]): Promise<Map<string, Endpoint>> {
  const rows = await tx<Endpoint[]>`
    SELECT account, mode, is_set, is_paid, generation, stopped_by, dropping
    FROM webhook_endpoints WHERE account = ANY(${accounts})
    ORDER BY account, mode FOR UPDATE`;
  return new Map(rows.map((row) => [ownerKey(row), row]));
}

interface Due {
  owner: Owner;
  notification: Notification;
  generation: number;
}

const isActive = ({ is_set, is_paid }: Endpoint) => is_set && is_paid;

/** Changes `endpoints` in log order, and collects the notifications to deliver. */
function applyEntries(
  endpoints: Map<string, Endpoint>,
  entries: LogEntry[],
  owners: Owners,
): { changed: Set<Endpoint>; due: Due[] } {
  const changed = new Set<Endpoint>();
  const due: Due[] = [];
  const change = (endpoint: Endpoint, to: Partial<Endpoint>, reason: string) => {
    const wasActive = isActive(endpoint);
    Object.assign(endpoint, to);
    changed.add(endpoint);
    if (!wasActive || isActive(endpoint)) return;
    Object.assign(endpoint, { generation: endpoint.generation + 1, stopped_by: reason, dropping: true });
  };
  for (const entry of entries) {
    if (isReported(entry)) {
      const owner = reportedOwner(entry, owners);
      const endpoint = owner === undefined ? undefined : endpoints.get(ownerKey(owner));
      if (endpoint === undefined || !isActive(endpoint)) continue;
      due.push({ owner: endpoint, notification: notificationOf(entry), generation: endpoint.generation });
    } else if (isWebhookEvent(entry)) {
      const { stream: account } = entry;
      const { mode } = entry.data;
      const key = ownerKey({ account, mode });
      // A webhook can only be set on a plan that includes webhooks, hence is_paid.
      const created = { account, mode, is_set: false, is_paid: true, generation: 0, stopped_by: null, dropping: false };
      const endpoint = endpoints.get(key) ?? created;
      endpoints.set(key, endpoint);
      if (entry.type === 'webhook_set') change(endpoint, { is_set: true, is_paid: true }, '');
      if (entry.type === 'webhook_disabled') change(endpoint, { is_set: false }, entry.data.reason);
      if (entry.type === 'webhook_removed') change(endpoint, { is_set: false }, 'removed');
    } else if (entry.type === 'plan_changed') {
      for (const endpoint of endpoints.values())
        if (endpoint.account === entry.stream) change(endpoint, { is_paid: hasWebhooks(entry.data.to) }, 'plan');
    } else if (entry.type === 'account_deleted') {
      for (const endpoint of endpoints.values())
        if (endpoint.account === entry.stream) change(endpoint, { is_set: false }, 'removed');
    }
  }
  return { changed, due };
}

async function save(tx: Transaction, endpoints: Endpoint[]): Promise<void> {
  const rows = JSON.parse(JSON.stringify(endpoints));
  await tx`
    INSERT INTO webhook_endpoints (account, mode, is_set, is_paid, generation, stopped_by, dropping)
    SELECT account, mode, is_set, is_paid, generation, stopped_by, dropping
    FROM jsonb_populate_recordset(NULL::webhook_endpoints, ${tx.json(rows)})
    ON CONFLICT (account, mode) DO UPDATE SET
      is_set = excluded.is_set, is_paid = excluded.is_paid, generation = excluded.generation,
      stopped_by = excluded.stopped_by, dropping = excluded.dropping, failing_since = NULL`;
}

async function deliver(tx: Transaction, due: Due[], now: Date): Promise<Owner[]> {
  const rows = due.map(({ owner: { account, mode }, notification, generation }) => {
    const { occurred_at, scanned_at, data, ...columns } = columnsOf(notification);
    return {
      ...columns,
      occurred_at: occurred_at?.toISOString() ?? null,
      scanned_at: scanned_at?.toISOString() ?? null,
      // As text, because jsonb would change the order of the fields.
      data: data === null ? null : JSON.stringify(data),
      ...{ account, mode, generation },
    };
  });
  await tx`
    INSERT INTO webhook_deliveries
      (id, account, mode, type, code, occurred_at, data, scanned_at, country, city, device, is_unique, generation,
        due_at, created_at)
    SELECT id, account, mode, type, code, occurred_at, data::json, scanned_at, country, city, device, is_unique,
      generation, ${now}, ${now}
    FROM jsonb_to_recordset(${tx.json(rows)}) AS r
      (id text, account text, mode text, type text, code text, occurred_at timestamptz, data text,
        scanned_at timestamptz, country text, city text, device text, is_unique boolean, generation integer)
    ON CONFLICT DO NOTHING`;
  const byKey = new Map(due.map(({ owner: { account, mode } }) => [ownerKey({ account, mode }), { account, mode }]));
  const keys = [...byKey.values()];
  await tx`
    UPDATE webhook_endpoints e SET due_at = least(e.due_at, ${now})
    FROM jsonb_to_recordset(${tx.json(keys)}) AS k (account text, mode text)
    WHERE e.account = k.account AND e.mode = k.mode`;
  return keys;
}
