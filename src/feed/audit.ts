import { accountEvents } from '../../events/account.ts';
import type { Mode } from '../../events/plans.ts';
import { type PublicEvent, publicEventOf } from '../../events/public-event.ts';
import { type PublicType, publicTypeNames, publicTypes } from '../../events/public-types.ts';
import type { Queryable } from '../lib/sql.ts';
import { doneBy, modeOfAccountEvent, type Row, recorded } from '../log/read.ts';

/** Operator's actions on codes. They are in the streams of the codes; an index has them by themselves. */
const takedowns: readonly string[] = ['code_disabled', 'code_enabled'];

/** The types of the audit log: everything about the account itself, and the operator's actions on its codes. */
export const auditTypes: readonly PublicType[] = publicTypeNames.filter((type) =>
  publicTypes[type].entries.some((entry: string) => Object.hasOwn(accountEvents, entry) || takedowns.includes(entry)),
);

export interface AuditSelection {
  account: string;
  /** A test key sees only what belongs to test mode. */
  modes: readonly Mode[];
  types: readonly PublicType[];
  actor: string | undefined;
  from: Date | undefined;
  to: Date | undefined;
}

const selected = (sql: Queryable, { account, modes, types, actor, from, to }: AuditSelection) => {
  const entryTypes = types.flatMap((type): readonly string[] => publicTypes[type].entries);
  return sql`
    (
      SELECT e.* FROM events e
      WHERE e.stream = ${account} AND ${sql.unsafe(modeOfAccountEvent)} = ANY(${[...modes]})
      UNION ALL
      SELECT e.* FROM events e JOIN codes c ON c.id = e.stream
      WHERE e.type IN ('code_disabled', 'code_enabled') AND c.account = ${account} AND c.mode = ANY(${[...modes]})
    ) AS a
    WHERE a.type = ANY(${entryTypes})
      ${actor === undefined ? sql`` : sql`AND ${doneBy(sql, actor)}`}
      ${from === undefined ? sql`` : sql`AND a.occurred_at >= ${from}`}
      ${to === undefined ? sql`` : sql`AND a.occurred_at <= ${to}`}`;
};

const eventsIn = (rows: Row[]): PublicEvent[] => rows.flatMap((row) => publicEventOf(recorded(row)) ?? []);

/** One page of the audit log, newest first. */
export async function listAudit(
  sql: Queryable,
  selection: AuditSelection,
  { page, limit }: { page: number; limit: number },
): Promise<{ events: PublicEvent[]; total: number }> {
  const [{ total }] = await sql<[{ total: number }]>`SELECT count(*) AS total FROM ${selected(sql, selection)}`;
  const offset = (page - 1) * limit;
  if (offset >= total) return { events: [], total };
  const rows = await sql<Row[]>`
    SELECT * FROM ${selected(sql, selection)} ORDER BY position DESC LIMIT ${limit} OFFSET ${offset}`;
  return { events: eventsIn(rows), total };
}

/** The next events after position `after`, oldest first, and the position of the last. */
export async function readAudit(
  sql: Queryable,
  selection: AuditSelection,
  { after, limit }: { after: number; limit: number },
): Promise<{ events: PublicEvent[]; to: number }> {
  const rows = await sql<Row[]>`
    SELECT * FROM ${selected(sql, selection)} AND a.position > ${after} ORDER BY position LIMIT ${limit}`;
  return { events: eventsIn(rows), to: rows.at(-1)?.position ?? after };
}
