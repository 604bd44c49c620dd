import type { ISql } from 'postgres';
import { type Account, type AccountEvent, evolveAccount } from '../events/account.ts';
import { type DomainEvent, isCodeEvent } from '../events/catalogue.ts';
import { type Code, type CodeEvent, evolveCode } from '../events/code.ts';
import type { Recorded } from '../events/recorded.ts';
import { evolveWebhook, isWebhookEvent, type Webhook, type WebhookEvent } from '../events/webhook.ts';

/**
 * Current state: `accounts`, `api_keys`, `webhooks`, `codes` and `code_counts`.
 *
 * It takes every event of codes and accounts, and is applied in the transaction that appends them, so it needs no
 * checkpoint: it is never behind. A rebuild applies the same function to the whole log (src/stream/replay-state.ts).
 * Here are its tables and their keys.
 */
export const stateTables = {
  accounts: 'id',
  api_keys: 'id',
  webhooks: 'account, mode',
  codes: 'id',
  code_counts: 'account, mode, status',
} as const;

type Sql = ISql<{ bigint: number }>;

export async function applyState(sql: Sql, events: Recorded<DomainEvent>[]): Promise<void> {
  const ofCodes: Recorded<CodeEvent>[] = [];
  const ofAccounts: Recorded<AccountEvent>[] = [];
  for (const event of events) {
    if (isCodeEvent(event)) ofCodes.push(event);
    else ofAccounts.push(event as Recorded<AccountEvent>);
  }
  if (ofAccounts.length > 0) await applyToAccounts(sql, ofAccounts);
  if (ofCodes.length > 0) await applyToCodes(sql, ofCodes);
}

async function applyToCodes(sql: Sql, events: Recorded<CodeEvent>[]): Promise<void> {
  const created = new Set(events.filter(({ type }) => type === 'code_created').map(({ stream }) => stream));
  const older = [...new Set(events.map(({ stream }) => stream).filter((id) => !created.has(id)))];
  const before = older.length === 0 ? [] : await sql<Code[]>`SELECT * FROM codes WHERE id = ANY(${older})`;

  const codes = new Map<string, Code>(before.map((code) => [code.id, code]));
  const counts = new Map<string, number>();
  const count = ({ account, mode, status }: Code, by: number) => {
    const key = JSON.stringify([account, mode, status]);
    counts.set(key, (counts.get(key) ?? 0) + by);
  };
  for (const event of events) {
    const old = codes.get(event.stream);
    const code = evolveCode(old, event);
    if (old !== undefined) count(old, -1);
    count(code, 1);
    codes.set(code.id, code);
  }

  await sql`
    INSERT INTO codes
    SELECT * FROM jsonb_populate_recordset(NULL::codes, ${sql.json(rows([...codes.values()]))})
    ON CONFLICT (id) DO UPDATE SET
      name = excluded.name, destination_url = excluded.destination_url,
      destination_revision = excluded.destination_revision, status = excluded.status,
      updated_at = excluded.updated_at, version = excluded.version`;
  const changes = [...counts].map(([key, by]) => {
    const [account, mode, status] = JSON.parse(key) as [string, string, string];
    return { account, mode, status, codes: by };
  });
  await sql`
    INSERT INTO code_counts AS c
    SELECT * FROM jsonb_populate_recordset(NULL::code_counts, ${sql.json(changes)})
    ON CONFLICT (account, mode, status) DO UPDATE SET codes = c.codes + excluded.codes`;
}

async function applyToAccounts(sql: Sql, events: Recorded<AccountEvent>[]): Promise<void> {
  const ids = [...new Set(events.map(({ stream }) => stream))];
  const before = await sql<Account[]>`SELECT * FROM accounts WHERE id = ANY(${ids})`;
  const accounts = new Map<string, Account>(before.map((account) => [account.id, account]));
  for (const event of events) {
    accounts.set(event.stream, evolveAccount(accounts.get(event.stream), event));
    await applyToKeys(sql, event);
    if (isWebhookEvent(event)) await applyToWebhooks(sql, event);
  }
  await sql`
    INSERT INTO accounts
    SELECT * FROM jsonb_populate_recordset(NULL::accounts, ${sql.json(rows([...accounts.values()]))})
    ON CONFLICT (id) DO UPDATE SET name = excluded.name, plan = excluded.plan, version = excluded.version`;
}

async function applyToKeys(sql: Sql, event: Recorded<AccountEvent>): Promise<void> {
  if (event.type === 'key_created') {
    const { key, name, mode, hash, last4 } = event.data;
    await sql`
      INSERT INTO api_keys (id, account, name, mode, hash, last4, created_at)
      VALUES (${key}, ${event.stream}, ${name}, ${mode}, ${hash}, ${last4}, ${event.occurred_at})`;
  }
  if (event.type === 'key_revoked')
    await sql`UPDATE api_keys SET revoked_at = ${event.occurred_at} WHERE id = ${event.data.key}`;
}

async function applyToWebhooks(sql: Sql, event: Recorded<WebhookEvent>): Promise<void> {
  const key = sql`account = ${event.stream} AND mode = ${event.data.mode}`;
  const [before] = await sql<Webhook[]>`SELECT * FROM webhooks WHERE ${key}`;
  const after = evolveWebhook(before, event);
  if (before !== undefined) await sql`DELETE FROM webhooks WHERE ${key}`;
  if (after !== undefined) {
    const { account, mode, url, status, reason, since, created_at } = after;
    await sql`
      INSERT INTO webhooks (account, mode, url, status, reason, since, created_at)
      VALUES (${account}, ${mode}, ${url}, ${status}, ${reason}, ${since}, ${created_at})`;
  }
}

/** Rows as JSON carries them: a whole batch is one parameter, whatever its size. */
const rows = (entries: (Code | Account)[]) => JSON.parse(JSON.stringify(entries));
