import type { Code } from '../../events/code.ts';
import type { Mode } from '../../events/plans.ts';
import { isId } from '../lib/ids.ts';
import type { Queryable } from '../log/connect.ts';

/** Whose codes: those of one account made in one mode. The other mode's do not exist for it. */
export interface Owner {
  account: string;
  mode: Mode;
}

export const listedStatuses = ['active', 'paused', 'draft'] as const;
export type ListedStatus = (typeof listedStatuses)[number];

/** A code and how often it was scanned, as far as the counters have come. */
export interface CountedCode extends Code {
  total_scans: number;
  unique_scans: number;
}

const counted = (sql: Queryable) => sql`
  SELECT c.*, coalesce(n.total_scans, 0) AS total_scans, coalesce(n.unique_scans, 0) AS unique_scans
  FROM codes c LEFT JOIN scan_counts n ON n.code = c.id`;

/** The code, unless it is deleted, or somebody else's. */
export async function findCode(sql: Queryable, { account, mode }: Owner, id: string): Promise<CountedCode | undefined> {
  if (!isId('qr', id)) return undefined;
  const [code] = await sql<CountedCode[]>`
    ${counted(sql)}
    WHERE id = ${id} AND account = ${account} AND mode = ${mode} AND status <> 'deleted'`;
  return code;
}

/** How many codes the owner has in each status, deleted ones left out. */
export async function countCodes(sql: Queryable, { account, mode }: Owner): Promise<Record<ListedStatus, number>> {
  const rows = await sql<{ status: ListedStatus; codes: number }[]>`
    SELECT status, codes FROM code_counts
    WHERE account = ${account} AND mode = ${mode} AND status <> 'deleted'`;
  return { active: 0, paused: 0, draft: 0, ...Object.fromEntries(rows.map(({ status, codes }) => [status, codes])) };
}

export const totalOf = (counts: Record<ListedStatus, number>) => counts.active + counts.paused + counts.draft;

/** One page of the owner's codes, newest first, and how many there are in all. */
export async function listCodes(
  sql: Queryable,
  owner: Owner,
  { status, page, limit }: { status?: ListedStatus | undefined; page: number; limit: number },
): Promise<{ codes: CountedCode[]; total: number }> {
  const wanted = status === undefined ? sql`status <> 'deleted'` : sql`status = ${status}`;
  const [codes, counts] = await Promise.all([
    sql<CountedCode[]>`
      ${counted(sql)}
      WHERE account = ${owner.account} AND mode = ${owner.mode} AND ${wanted}
      ORDER BY position DESC
      LIMIT ${limit} OFFSET ${(page - 1) * limit}`,
    countCodes(sql, owner),
  ]);
  return { codes, total: status === undefined ? totalOf(counts) : counts[status] };
}

/** The names of some of the owner's codes, by id, deleted ones left out. */
export async function namesOf(sql: Queryable, { account, mode }: Owner, ids: string[]): Promise<Map<string, string>> {
  const rows = await sql<{ id: string; name: string }[]>`
    SELECT id, name FROM codes
    WHERE id = ANY(${ids}) AND account = ${account} AND mode = ${mode} AND status <> 'deleted'`;
  return new Map(rows.map(({ id, name }) => [id, name]));
}
