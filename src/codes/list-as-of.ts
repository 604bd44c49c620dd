import type { Code } from '../../events/code.ts';
import type { Owner } from '../../events/owner.ts';
import type { Queryable } from '../log/connect.ts';
import { hasAnyTag, hasAvailability, type Listing, orderBy } from './codes.ts';
import { matchesSearch } from './search.ts';

/** What a list shows of a code at an earlier time. */
export type PastCode = Pick<Code, 'id' | 'name' | 'destination_url' | 'short_code' | 'status' | 'created_at'>;

/**
 * One page of the owner's codes as they were at a time, and the total number that match. Deleted codes are left out, also
 * those that existed then.
 *
 * Postgres does all of it, and returns one page. A code that was not changed since is read from its row; of the others, the
 * first change of a field since then has the value that the field had (`from`), so no history is replayed. A list by time of
 * creation without a filter looks at the changes of the codes of its page only.
 */
export async function listCodesAsOf(
  sql: Queryable,
  { account, mode }: Owner,
  asOf: Date,
  { status, search, shortCode, availability, tags, order = '-created_at', page, limit }: Listing,
): Promise<{ codes: PastCode[]; total: number }> {
  const isOfId = search !== undefined && 'id' in search ? sql`AND id = ${search.id}` : sql``;
  const hasShortCode = shortCode === undefined ? sql`` : sql`AND short_code = ${shortCode}`;
  // These never change, so they need no state of then.
  const existed = sql`
    SELECT * FROM codes
    WHERE account = ${account} AND mode = ${mode} AND status <> 'deleted' AND created_at <= ${asOf}
      ${isOfId} ${hasShortCode}`;
  const filters = [
    ...(status === undefined ? [] : [sql`status = ${status}`]),
    ...(search === undefined || 'id' in search ? [] : [matchesSearch(sql, search, undefined)]),
    ...(availability === undefined
      ? []
      : [hasAvailability(sql, availability.wanted, asOf, sql`(max_scans IS NOT NULL AND limit_was_reached)`)]),
    ...(tags === undefined ? [] : [hasAnyTag(sql, tags)]),
  ];
  const inOrder = sql`ORDER BY ${orderBy(sql, order)} LIMIT ${limit} OFFSET ${(page - 1) * limit}`;
  const isByCreation = order === 'created_at' || order === '-created_at';
  const rows = await (filters.length === 0 && isByCreation
    ? sql<Row[]>`
        WITH existed AS NOT MATERIALIZED (${existed}), chosen AS MATERIALIZED (SELECT * FROM existed ${inOrder})
        SELECT past.*, (SELECT count(*) FROM existed) AS total
        FROM (SELECT) AS one LEFT JOIN (${pastOf(sql, sql`chosen`, asOf, false)}) AS past ON true
        ORDER BY ${orderBy(sql, order)}`
    : sql<Row[]>`
        WITH existed AS NOT MATERIALIZED (${existed}), matching AS MATERIALIZED (
          SELECT * FROM (${pastOf(sql, sql`existed`, asOf, availability !== undefined)}) AS past
          WHERE ${filters.reduce((all, filter) => sql`${all} AND ${filter}`, sql`true`)}
        )
        SELECT chosen.*, (SELECT count(*) FROM matching) AS total
        FROM (SELECT) AS one LEFT JOIN (SELECT * FROM matching ${inOrder}) AS chosen ON true
        ORDER BY ${orderBy(sql, order)}`);
  // A page past the end still has one row, for the total.
  const codes = rows.flatMap(({ total: _, ...code }) => (code.id === null ? [] : [code as PastCode]));
  return { codes, total: rows[0]?.total ?? 0 };
}

type Row = { total: number } & (PastCode | { id: null });

const columns = (sql: Queryable) =>
  sql`id, position, short_code, created_at, name, destination_url, status, tags, starts_at, expires_at, max_scans`;

/** SQL for the codes of a table like `codes`, as they were; `hasLimits` adds whether the limit was reached, one more lookup. */
function pastOf(sql: Queryable, codes: ReturnType<typeof columns>, asOf: Date, hasLimits: boolean) {
  const limitWasReached = hasLimits
    ? sql`coalesce((
        SELECT type = 'limit_reached' FROM events
        WHERE stream = c.id AND version <= last.version AND type IN ('limit_changed', 'limit_reached')
        ORDER BY version DESC LIMIT 1
      ), false)`
    : sql`false`;
  return sql`
  SELECT ${columns(sql)}, limit_reached_at IS NOT NULL AS limit_was_reached FROM ${codes} WHERE updated_at <= ${asOf}
  UNION ALL
  SELECT id, position, short_code, created_at,
    coalesce(was.name #>> '{}', c.name), coalesce(was.destination_url #>> '{}', c.destination_url),
    coalesce(was.status, c.status),
    CASE WHEN was.tags IS NULL THEN c.tags
      WHEN jsonb_typeof(was.tags) = 'array' THEN ARRAY(SELECT jsonb_array_elements_text(was.tags)) END,
    CASE WHEN was.schedule IS NULL THEN c.starts_at ELSE (was.schedule ->> 'starts_at')::timestamptz END,
    CASE WHEN was.schedule IS NULL THEN c.expires_at ELSE (was.schedule ->> 'expires_at')::timestamptz END,
    CASE WHEN was.max_scans IS NULL THEN c.max_scans ELSE (was.max_scans #>> '{}')::integer END,
    ${limitWasReached}
  FROM ${codes} AS c
  CROSS JOIN LATERAL (
    SELECT coalesce(max(version), 0) AS version FROM events WHERE stream = c.id AND occurred_at <= ${asOf}
  ) AS last
  CROSS JOIN LATERAL (
    SELECT
      (array_agg(data -> 'from' ORDER BY version) FILTER (WHERE type = 'code_renamed'))[1] AS name,
      (array_agg(data -> 'from' ORDER BY version) FILTER (WHERE type = 'destination_changed'))[1] AS destination_url,
      (array_agg(data -> 'from' ORDER BY version) FILTER (WHERE type = 'tags_changed'))[1] AS tags,
      (array_agg(data -> 'from' ORDER BY version) FILTER (WHERE type = 'schedule_changed'))[1] AS schedule,
      (array_agg(data -> 'from' ORDER BY version) FILTER (WHERE type = 'limit_changed'))[1] AS max_scans,
      (array_agg(CASE type WHEN 'code_paused' THEN 'active' WHEN 'code_resumed' THEN 'paused' ELSE 'draft' END
        ORDER BY version) FILTER (WHERE type IN ('code_paused', 'code_resumed', 'code_published')))[1] AS status
    FROM events WHERE stream = c.id AND version > last.version
  ) AS was
  WHERE updated_at > ${asOf}`;
}
