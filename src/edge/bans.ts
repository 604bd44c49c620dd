import { join } from 'node:path';
import type { Change } from '../../events/entry.ts';
import { isScan } from '../../events/entry.ts';
import { canonicalHost, coveringHosts, hostOf } from '../../events/hosts.ts';
import type { Route } from '../../projections/routes.ts';
import type { Sql } from '../lib/sql.ts';
import { readSaved, writeDurably } from './saved-file.ts';

/** Suspended and deleted accounts and blocked destination hosts: each disables many codes at once. */
export interface Bans {
  /** Whether this route is disabled, by its code, its account or its destination host. */
  covers(route: Pick<Route, 'account' | 'destination_url' | 'disabled'>): boolean;
  /** Resolves once the bans have been read from Postgres at least once. */
  loaded(): Promise<void>;
  /** Reads all bans from Postgres. */
  refresh(): Promise<void>;
  /** Like `refresh`, and also replaces newer state: the log may have lost events that are applied. */
  reload(): Promise<void>;
  /** Applies events, which may arrive in any order and more than once. */
  apply(entries: Change[]): void;
  /** Writes the bans to `folder` if they have changed, so that an edge can start without Postgres. */
  save(folder: string): Promise<void>;
}

/** One ban, and whether it is in force. */
interface Ban {
  kind: 'account' | 'host';
  id: string;
  inForce: boolean;
}

interface SavedBans {
  /** Version of the file format. */
  version: 1;
  accounts: string[];
  hosts: string[];
}

const fileName = 'bans.json';

export function createBans(sql: Sql, saved: SavedBans = { version: 1, accounts: [], hosts: [] }): Bans {
  const banned = { account: new Set(saved.accounts), host: new Set(saved.hosts.map(canonicalHost)) };
  /** The position of the last event of each account and host, so that an older event does not undo it. */
  const positions = new Map<string, number>();
  let firstLoad: Promise<void> | undefined;
  let savedText = '';

  function applyBan({ kind, id, inForce }: Ban, position: number): void {
    const key = `${kind} ${id}`;
    if ((positions.get(key) ?? 0) > position) return;
    positions.set(key, position);
    if (inForce) banned[kind].add(id);
    else banned[kind].delete(id);
  }

  async function refresh(): Promise<void> {
    const [row] = await sql<[{ position: number; accounts: string[]; hosts: string[] }]>`
      SELECT (SELECT coalesce(max(position), 0) FROM events) AS position,
        ARRAY(SELECT id FROM accounts WHERE suspended_at IS NOT NULL UNION ALL SELECT account FROM erasures)::text[]
          AS accounts,
        ARRAY(SELECT host FROM blocked_hosts)::text[] AS hosts`;
    const read = { account: new Set(row.accounts), host: new Set(row.hosts.map(canonicalHost)) };
    for (const kind of ['account', 'host'] as const)
      for (const id of new Set([...banned[kind], ...read[kind]]))
        applyBan({ kind, id, inForce: read[kind].has(id) }, row.position);
  }

  return {
    covers({ account, destination_url, disabled }) {
      if (disabled === true || (banned.account.size > 0 && banned.account.has(account))) return true;
      return banned.host.size > 0 && coveringHosts(hostOf(destination_url)).some((host) => banned.host.has(host));
    },
    refresh,
    reload() {
      positions.clear();
      return refresh();
    },
    loaded() {
      firstLoad ??= refresh().catch((error) => {
        firstLoad = undefined;
        throw error;
      });
      return firstLoad;
    },
    apply(entries) {
      for (const entry of entries) {
        const ban = banOf(entry);
        if (ban !== undefined) applyBan(ban, entry.position);
      }
    },
    async save(folder) {
      const text = JSON.stringify({ version: 1, accounts: [...banned.account], hosts: [...banned.host] } as SavedBans);
      if (text === savedText) return;
      await writeDurably(join(folder, fileName), text);
      savedText = text;
    },
  };
}

function banOf(entry: Change): Ban | undefined {
  if (isScan(entry)) return undefined;
  switch (entry.type) {
    case 'account_suspended':
    case 'account_deleted':
      return { kind: 'account', id: entry.stream, inForce: true };
    case 'account_resumed':
    // A deleted account that comes back from another instance begins again.
    case 'account_created':
      return { kind: 'account', id: entry.stream, inForce: false };
    case 'destination_blocked':
      return { kind: 'host', id: canonicalHost(entry.data.host), inForce: true };
    case 'destination_unblocked':
      return { kind: 'host', id: canonicalHost(entry.data.host), inForce: false };
    default:
      return undefined;
  }
}

/** Reads the bans that all edges below `parent` have saved. */
export async function readSavedBans(parent: string): Promise<SavedBans> {
  const all = await readSaved<SavedBans>(parent, fileName, 1);
  return {
    version: 1,
    accounts: all.flatMap(({ accounts }) => accounts),
    hosts: all.flatMap(({ hosts }) => hosts),
  };
}
