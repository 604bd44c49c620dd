import type { Code } from '../../events/code.ts';
import type { CodeChanged } from '../../events/code-events.ts';
import type { Owner } from '../../events/owner.ts';
import type { Queryable } from '../lib/sql.ts';
import { hasAvailability, hasShortCode, hasTags, isOnDomain, type Listing } from './codes.ts';
import { isAfter, type ListedPage, type ListOrder, type ListPosition, orderBy, splitPage } from './list-order.ts';
import { matchesSearch, searchedFields } from './search.ts';

/** What a list shows of a code at an earlier time. */
export type PastCode = Pick<
  Code,
  'id' | 'name' | 'destination_url' | 'short_code' | 'status' | 'created_at' | 'position'
>;

/**
 * One page of the owner's codes as they were at a time, or the codes after a position of that list, and the total number that
 * match. Deleted codes are left out, also those that existed then.
 *
 * Postgres does all of it, and returns one page. What the list shows is read for the codes of the page only. A filter, or an
 * order by a field that can change, first reads the fields that it needs of every code.
 */
export async function listCodesAsOf(
  sql: Queryable,
  { account, mode }: Owner,
  asOf: Date,
  listing: Listing,
  after?: ListPosition,
): Promise<ListedPage<PastCode> & { total: number }> {
  const { search, shortCode, domain, order = '-created_at', page, limit } = listing;
  const isOfId = search !== undefined && 'id' in search ? sql`AND id = ${search.id}` : sql``;
  const hasCode = shortCode === undefined ? sql`` : sql`AND ${hasShortCode(sql, account, shortCode)}`;
  const isThere = domain === undefined ? sql`` : sql`AND ${isOnDomain(sql, domain)}`;
  // These never change, so they need no state of then.
  const existed = sql`
    SELECT * FROM codes
    WHERE account = ${account} AND mode = ${mode} AND status <> 'deleted' AND created_at <= ${asOf}
      ${isOfId} ${hasCode} ${isThere}`;
  const conditions = conditionsOf(sql, asOf, listing);
  const sortedBy = fieldOfOrder(order);
  const fields = new Set(conditions.flatMap((condition) => condition.fields));
  const matching =
    fields.size === 0
      ? sql`NOT MATERIALIZED (SELECT * FROM existed)`
      : sql`MATERIALIZED (
          SELECT id, position ${sortedBy === undefined ? sql`` : sql`, ${sql(sortedBy)}`}
          FROM (${pastOf(sql, sql`existed`, asOf, fields)}) AS past
          WHERE ${conditions.reduce((all, { isMet }) => sql`${all} AND ${isMet}`, sql`true`)}
        )`;
  const rows = await sql<Row[]>`
    WITH existed AS NOT MATERIALIZED (${existed}), matching AS ${matching}, chosen AS MATERIALIZED (
      SELECT * FROM codes WHERE id = ANY(ARRAY(
        SELECT id FROM matching ${after === undefined ? sql`` : sql`WHERE ${isAfter(sql, order, after)}`}
        ORDER BY ${orderBy(sql, order)} LIMIT ${limit + 1} OFFSET ${(page - 1) * limit}
      ))
    )
    SELECT id, position, short_code, created_at, name, destination_url, status, (SELECT count(*) FROM matching) AS total
    FROM (SELECT) AS one LEFT JOIN (${pastOf(sql, sql`chosen`, asOf, shownFields)}) AS past ON true
    ORDER BY ${orderBy(sql, order)}`;
  // A page past the end still has one row, for the total.
  const codes = rows.flatMap(({ total: _, ...code }) => (code.id === null ? [] : [code as PastCode]));
  return { ...splitPage(codes, order, limit), total: rows[0]?.total ?? 0 };
}

type Row = { total: number } & (PastCode | { id: null });
type Fragment = ReturnType<typeof orderBy>;

/** Fields that change, each with the events that change it, and in SQL the value before such an event. */
const pastFields = {
  name: [['code_renamed'], "data ->> 'from'"],
  destination_url: [['destination_changed'], "data ->> 'from'"],
  status: [
    ['code_paused', 'code_resumed', 'code_published'],
    "CASE type WHEN 'code_paused' THEN 'active' WHEN 'code_resumed' THEN 'paused' ELSE 'draft' END",
  ],
  tags: [
    ['tags_changed'],
    "CASE WHEN data -> 'from' <> 'null' THEN ARRAY(SELECT jsonb_array_elements_text(data -> 'from')) END",
  ],
  note: [['note_changed'], "data ->> 'from'"],
  starts_at: [['schedule_changed'], "(data -> 'from' ->> 'starts_at')::timestamptz"],
  expires_at: [['schedule_changed'], "(data -> 'from' ->> 'expires_at')::timestamptz"],
  max_scans: [['limit_changed'], "(data ->> 'from')::integer"],
} as const satisfies Partial<Record<keyof Code, [CodeChanged['type'][], string]>>;
type PastField = keyof typeof pastFields;

const shownFields = new Set<PastField>(['name', 'destination_url', 'status']);

/** What a code must have been to be listed, in SQL, and the fields that this is about. */
interface Condition {
  fields: PastField[];
  isMet: Fragment;
}

function conditionsOf(sql: Queryable, asOf: Date, { status, search, availability, tags, order }: Listing): Condition[] {
  const conditions: Condition[] = [];
  if (status !== undefined) conditions.push({ fields: ['status'], isMet: sql`status = ${status}` });
  if (search !== undefined && !('id' in search))
    conditions.push({ fields: [...searchedFields], isMet: matchesSearch(sql, search) });
  if (availability !== undefined)
    conditions.push({
      fields: ['starts_at', 'expires_at', 'max_scans'],
      isMet: hasAvailability(sql, availability.wanted, asOf, limitWasReached(sql, asOf)),
    });
  if (tags !== undefined) conditions.push({ fields: ['tags'], isMet: hasTags(sql, tags) });
  const sortedBy = fieldOfOrder(order);
  if (sortedBy !== undefined) conditions.push({ fields: [sortedBy], isMet: sql`true` });
  return conditions;
}

/** The field that an order compares, if it can change. */
const fieldOfOrder = (order: ListOrder | undefined): PastField | undefined =>
  (['name', 'destination_url', 'status'] as const).find((field) => order?.replace(/^-/, '') === field);

/** SQL for the rows of `pastOf`, named `past`, whose limit was reached. */
const limitWasReached = (sql: Queryable, asOf: Date) => sql`
  CASE WHEN max_scans IS NULL THEN false
    WHEN updated_at <= ${asOf} THEN limit_reached_at IS NOT NULL
    ELSE coalesce((
      SELECT type = 'limit_reached' FROM events
      WHERE stream = past.id AND version <= past.last_version AND type IN ('limit_changed', 'limit_reached')
      ORDER BY version DESC LIMIT 1
    ), false) END`;

/**
 * SQL for the codes of a table like `codes`, with `fields` as they were. A code that was not changed since has them in its row.
 * Of the others, the first change of a field since then has the value that the field had, so no history is replayed. The index
 * `events_changes` finds it without reading the events of the code.
 */
function pastOf(sql: Queryable, codes: Fragment, asOf: Date, fields: Set<PastField>) {
  const join = (fragments: Fragment[]) => fragments.reduce((all, fragment) => sql`${all}, ${fragment}`);
  const names = [...fields];
  const firstChange = (field: PastField) => sql(`${field}_changed`);
  const isChange = (field: PastField) => sql`type = ANY(${[...pastFields[field][0]]})`;
  return sql`
    SELECT id, position, short_code, created_at, updated_at, limit_reached_at, last_version, ${join(
      names.map(
        (field) => sql`
          CASE WHEN first.${firstChange(field)} IS NULL THEN c.${sql(field)}
            ELSE (SELECT ${sql.unsafe(pastFields[field][1])} FROM events
              WHERE stream = c.id AND version = first.${firstChange(field)}) END AS ${sql(field)}`,
      ),
    )}
    FROM ${codes} AS c
    CROSS JOIN LATERAL (
      SELECT max(version) FILTER (WHERE occurred_at <= ${asOf}) AS last_version,
        min(version) FILTER (WHERE occurred_at > ${asOf}) AS next_version, ${join(
          names.map(
            (field) => sql`
              min(version) FILTER (WHERE occurred_at > ${asOf} AND ${isChange(field)}) AS ${firstChange(field)}`,
          ),
        )}
      FROM events WHERE stream = c.id AND c.updated_at > ${asOf}
    ) AS seen
    -- By the clocks of two instances, a change can seem older than the one before it. Then both were made by that time.
    CROSS JOIN LATERAL (
      SELECT ${join(
        names.map(
          (field) => sql`
            CASE WHEN next_version < last_version
              THEN (SELECT min(version) FROM events WHERE stream = c.id AND version > last_version AND ${isChange(field)})
              ELSE seen.${firstChange(field)} END AS ${firstChange(field)}`,
        ),
      )}
    ) AS first
    -- Keeps Postgres from computing a field once for each time that it is named.
    OFFSET 0`;
}
