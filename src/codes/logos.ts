import { createHash } from 'node:crypto';
import type { Account, AccountEvent } from '../../events/account.ts';
import type { Logo } from '../../events/logo.ts';
import type { Owner } from '../../events/owner.ts';
import type { Actor } from '../../events/recorded.ts';
import { writeState } from '../../projections/state.ts';
import { notFound, Refusal } from '../lib/errors.ts';
import { isId, newId } from '../lib/ids.ts';
import type { Queryable, Sql, Transaction } from '../lib/sql.ts';
import { appendAndCommit, prepare } from '../log/append.ts';
import { locks } from '../log/locks.ts';
import { VersionTaken } from '../log/version-taken.ts';
import type { LogoArt } from '../qr/logo-art.ts';
import { decodeLogo, encodeLogo, type LogoFile } from '../qr/logo-files.ts';

/** An image to add. Format, size and bytes describe the upload. */
export interface NewLogo extends Pick<Logo, 'format' | 'width' | 'height' | 'bytes'> {
  art: LogoArt;
}

interface By {
  actor: Actor;
  now: Date;
}

/** Adds a logo; throws 403 if the account has `maxLogos` in this mode already. */
export async function addLogo(
  sql: Sql,
  owner: Owner,
  { art, ...logo }: NewLogo,
  by: By,
  maxLogos: number,
): Promise<Logo> {
  const { account, mode } = owner;
  const file = encodeLogo(art);
  const hash = createHash('sha256').update(file.content).digest('hex');
  const id = newId('logo', by.now.getTime());
  await changeLogos(sql, account, by, async (tx) => {
    await refuseBeyond(tx, owner, maxLogos);
    await tx`
      INSERT INTO logo_files (account, hash, type, content)
      VALUES (${account}, ${hash}, ${file.type}, ${Buffer.from(file.content)}) ON CONFLICT DO NOTHING`;
    return { type: 'logo_added', data: { logo: id, mode, hash, ...logo } };
  });
  return { id, account, mode, hash, ...logo, created_at: by.now };
}

/**
 * Appends the event that `decide` returns. An advisory lock serializes the changes of an account's logos: the limit is
 * exact, and a file stays while another logo needs it. Other changes of the account can win a race, and are waited for once.
 */
async function changeLogos(
  sql: Sql,
  id: string,
  by: By,
  decide: (tx: Transaction) => Promise<AccountEvent>,
  attempts = 2,
): Promise<void> {
  try {
    await sql.begin(async (tx) => {
      await tx`SELECT pg_advisory_xact_lock(${locks.quota}, hashtext(${`${id}/logos`}))`;
      const [account] = await tx<Account[]>`SELECT * FROM accounts WHERE id = ${id}`;
      if (account === undefined) throw notFound('account');
      const event = await decide(tx);
      const pending = prepare([{ stream: id, version: account.version + 1, event }], by);
      await writeState(tx, { accounts: [account] }, pending);
      await appendAndCommit(tx, pending);
    });
  } catch (error) {
    if (!(error instanceof VersionTaken) || attempts === 1) throw error;
    await changeLogos(sql, id, by, decide, attempts - 1);
  }
}

async function refuseBeyond(tx: Transaction, { account, mode }: Owner, maxLogos: number): Promise<void> {
  const [row] = await tx<[{ count: number }]>`
    SELECT count(*)::int AS count FROM logos WHERE account = ${account} AND mode = ${mode}`;
  if (row.count >= maxLogos)
    throw new Refusal(
      'quota_exceeded',
      `An account may have ${maxLogos} logos, and ${row.count} exist. Delete some, or ask the operator to raise MAX_LOGOS.`,
    );
}

/** Removes a logo and its image; throws 409 while a code that is not deleted has it. */
export async function removeLogo(sql: Sql, owner: Owner, id: string, by: By): Promise<void> {
  const { account, mode } = owner;
  await changeLogos(sql, account, by, async (tx) => {
    const { hash } = await requireLogo(tx, owner, id);
    // Waits for creates that use the logo: see `lockUsedLogos`.
    await tx`SELECT FROM logos WHERE id = ${id} FOR UPDATE`;
    await refuseWhileUsed(tx, id);
    await refuseOnGuestPages(tx, account, id);
    await tx`
      DELETE FROM logo_files f WHERE account = ${account} AND hash = ${hash} AND NOT EXISTS (
        SELECT FROM logos l WHERE l.account = f.account AND l.hash = f.hash AND l.id <> ${id})`;
    return { type: 'logo_removed', data: { logo: id, mode } };
  });
}

async function refuseWhileUsed(tx: Transaction, id: string): Promise<void> {
  const codes = await tx<{ id: string; name: string }[]>`
    SELECT id, name FROM codes
    WHERE style ? 'logo' AND style -> 'logo' ->> 'id' = ${id} AND status <> 'deleted' ORDER BY id LIMIT 4`;
  const [first, ...others] = codes;
  if (first === undefined) return;
  const more = others.length === 0 ? '' : others.length < 3 ? ` and ${others.length} more` : ' and others';
  throw new Refusal('logo_in_use', `The QR code “${first.name}” (${first.id})${more} has this logo: delete it first.`);
}

async function refuseOnGuestPages(tx: Transaction, account: string, id: string): Promise<void> {
  const rows = await tx`SELECT FROM accounts WHERE id = ${account} AND guest_page ->> 'logo' = ${id}`;
  if (rows.length > 0)
    throw new Refusal('logo_in_use', 'Pages for guests show this logo: change guest_page of the account first.');
}

/** The logos of codes that are about to be created, by id. They cannot be removed until the transaction ends. */
export async function lockUsedLogos(
  tx: Transaction,
  { account, mode }: Owner,
  ids: string[],
): Promise<Map<string, Logo>> {
  const logos = await tx<Logo[]>`
    SELECT * FROM logos WHERE id = ANY(${[...new Set(ids)]}) AND account = ${account} AND mode = ${mode}
    ORDER BY id FOR SHARE`;
  return new Map(logos.map((logo) => [logo.id, logo]));
}

async function requireLogo(sql: Queryable, { account, mode }: Owner, id: string): Promise<Logo> {
  const [logo] = isId('logo', id)
    ? await sql<Logo[]>`SELECT * FROM logos WHERE id = ${id} AND account = ${account} AND mode = ${mode}`
    : [];
  if (logo === undefined) throw notFound('logo');
  return logo;
}

/** One page of logos, newest first. */
export async function listLogos(
  sql: Queryable,
  { account, mode }: Owner,
  { page, limit }: { page: number; limit: number },
): Promise<{ logos: Logo[]; total: number }> {
  const [logos, [row]] = await Promise.all([
    sql<Logo[]>`
      SELECT * FROM logos WHERE account = ${account} AND mode = ${mode}
      ORDER BY id DESC LIMIT ${limit} OFFSET ${(page - 1) * limit}`,
    sql<[{ total: number }]>`SELECT count(*)::int AS total FROM logos WHERE account = ${account} AND mode = ${mode}`,
  ]);
  return { logos, total: row.total };
}

/** A logo of the owner and its image; throws 404. */
export async function findLogo(sql: Queryable, owner: Owner, id: string): Promise<{ logo: Logo; art: LogoArt }> {
  const logo = await requireLogo(sql, owner, id);
  const art = await findArt(sql, id);
  if (art === undefined) throw notFound('logo');
  return { logo, art };
}

/** The image of a logo of any account. */
export async function findArt(sql: Queryable, id: string): Promise<LogoArt | undefined> {
  const [file] = await sql<LogoFile[]>`
    SELECT f.type, f.content FROM logos l JOIN logo_files f ON f.account = l.account AND f.hash = l.hash
    WHERE l.id = ${id}`;
  return file && decodeLogo({ type: file.type, content: new Uint8Array(file.content) });
}
