import type { LogEntry } from '../../events/entry.ts';
import type { Mode } from '../../events/plans.ts';
import { ScanLine } from '../../events/scan-line.ts';
import type { EndpointKey } from '../../events/webhooks/endpoint.ts';
import type { EventFilter, WebhookFilter } from '../../events/webhooks/webhook.ts';
import { entryTypesOf } from '../../events/webhooks/webhook-events.ts';
import type { WebhookSpan } from '../../events/webhooks/webhook-spans.ts';
import type { Queryable } from '../lib/sql.ts';
import { type ArchiveFile, archivesIn, namesOf, readArchivedLines, withReplacedFiles } from '../log/archives.ts';
import { nextOwnedPart, type OwnedPart } from '../log/owned-parts.ts';
import { readEntriesAt } from '../log/read.ts';
import { isAt } from '../log/scan-lines.ts';

export const replayChoices = ['missing', 'failed', 'all'] as const;
/**
 * Which events a replay sends. `missing`: no delivery was made, since the webhook did not exist, was off, or did not let
 * the event through. `failed`: the delivery failed. `all`: all but those whose delivery is pending.
 */
export type ReplayChoice = (typeof replayChoices)[number];

/** When the webhook was on, and what it got then. Null stands for all. */
interface SelectionSpan {
  after: number;
  to: number;
  types: string[];
  qr_ids: string[] | null;
  tags: string[] | null;
}

/** What a replay selects from, as stored with it. */
export interface Selection {
  code_mode: Mode;
  /** Types of log entries. */
  types: string[];
  qr_ids: string[] | null;
  tags: string[] | null;
  spans: SelectionSpan[];
}

export interface SelectionQuery extends EndpointKey {
  selection: Selection;
  choice: ReplayChoice;
  from_time: Date;
  to_time: Date;
}

/** Positions after `after`, up to `to`. */
interface Range {
  after: number;
  to: number;
}

/** A filter by types of log entries. */
export const entryFilter = ({ events, qr_ids, tags }: EventFilter) => ({ types: entryTypesOf(events), qr_ids, tags });

export const selectionOf = (filter: WebhookFilter, spans: WebhookSpan[]): Selection => ({
  code_mode: filter.mode,
  ...entryFilter(filter),
  spans: spans.map(({ after, to, filter: then }) => ({ after, to, ...entryFilter(then) })),
});

/** Entries that are read by their positions, each of which may be a read from disk. */
const maxEntries = 5_000;

/** The next part of a range in which the account can have events, of up to `max` positions or entries. */
export const nextPart = (sql: Queryable, query: SelectionQuery, range: Range, max: number): Promise<OwnedPart> => {
  const { account, selection } = query;
  return nextOwnedPart(sql, { account, mode: selection.code_mode }, range, {
    wantsScans: selection.types.includes('code_scanned'),
    wantsChanges: selection.types.some((type) => type !== 'code_scanned'),
    maxEntries: Math.min(max, maxEntries),
    maxPositions: max,
  });
};

/** The number of events that the replay sends, of a part of the log. */
export const countSelected = (sql: Queryable, query: SelectionQuery, part: OwnedPart): Promise<number> =>
  withArchivedScans(sql, query, part, async (archived) => {
    const [{ count }] = await sql<[{ count: number }]>`
      SELECT count(*) AS count FROM (${selected(sql, query, part, archived)}) AS selected`;
    return count;
  });

/** An event that a replay sends. */
export interface Selected {
  position: number;
  /** The id of its delivery. */
  id: string;
  /** Whether there is a delivery, which is sent again. */
  exists: boolean;
}

/** The first events that the replay sends, of a part of the log. */
export const selectNext = (
  sql: Queryable,
  query: SelectionQuery,
  part: OwnedPart,
  limit: number,
): Promise<Selected[]> =>
  withArchivedScans(
    sql,
    query,
    part,
    (archived) => sql<Selected[]>`${selected(sql, query, part, archived)} ORDER BY entry.position LIMIT ${limit}`,
  );

/** The entries of those events that have no delivery yet. */
export const newEntries = (sql: Queryable, chosen: Selected[]): Promise<LogEntry[]> =>
  readEntriesAt(
    sql,
    chosen.filter(({ exists }) => !exists).map(({ position }) => position),
  );

/** A scan of the owner in an archive file. */
interface ArchivedScan {
  position: number;
  id: string;
  code: string;
  occurred_at: string;
}

/** Runs a read with the archived scans of the part, and again if scans were moved to the archive or left it meanwhile. */
async function withArchivedScans<T>(
  sql: Queryable,
  query: SelectionQuery,
  part: OwnedPart,
  read: (archived: ArchivedScan[]) => Promise<T>,
): Promise<T> {
  const found = await read([]);
  // Asked after the read, since scans move to the archive and never back: without files now, the read had all of them.
  if ((await archivesIn(sql, part)).length === 0) return found;
  for (;;) {
    const { files, archived } = await withReplacedFiles(async () => {
      const files = await archivesIn(sql, part);
      return { files, archived: await readArchived(files, query, part) };
    });
    const result = await read(archived);
    if (namesOf(await archivesIn(sql, part)) === namesOf(files)) return result;
  }
}

async function readArchived(files: ArchiveFile[], query: SelectionQuery, { after, to, owned }: OwnedPart) {
  const { account, from_time, to_time, selection } = query;
  const { code_mode, types, qr_ids } = selection;
  if (!types.includes('code_scanned')) return [];
  const codes = qr_ids === null ? undefined : new Set(qr_ids);
  const isWanted = (line: string) => {
    const scan = new ScanLine(line);
    if (scan.account !== account || scan.mode !== code_mode || codes?.has(scan.code) === false) return false;
    return scan.occurred_at >= from_time && scan.occurred_at < to_time;
  };
  const lines = await readArchivedLines(files, { after, to, isWanted, positions: owned?.scans });
  return lines.map((line): ArchivedScan => {
    const { position, id, code, occurred_at } = new ScanLine(line);
    return { position, id, code, occurred_at: occurred_at.toISOString() };
  });
}

function selected(sql: Queryable, query: SelectionQuery, part: OwnedPart, archived: ArchivedScan[]) {
  const { account, webhook, choice, selection } = query;
  const spans = sql.json(JSON.parse(JSON.stringify(selection.spans)));
  const choices = {
    // The delivery of an event that the webhook got then may have been removed since it succeeded.
    missing: sql`d.id IS NULL AND NOT EXISTS (
      SELECT 1 FROM jsonb_to_recordset(${spans})
        AS span (after bigint, "to" bigint, types text[], qr_ids text[], tags text[])
      WHERE entry.position > span.after AND entry.position <= span."to" AND entry.type = ANY(span.types)
        AND (span.qr_ids IS NULL OR entry.code = ANY(span.qr_ids))
        AND (span.tags IS NULL OR code_tags_at(entry.code, entry.position) && span.tags)
    )`,
    failed: sql`d.status = 'failed'`,
    all: sql`(d.id IS NULL OR d.status <> 'pending')`,
  };
  return sql`
    SELECT entry.position, entry.delivery AS id, d.id IS NOT NULL AS exists
    FROM (
      SELECT position, code, type, 'whd_' || substr(id, strpos(id, '_') + 1) AS delivery
      FROM (${candidates(sql, query, part, archived)}) AS candidate
    ) AS entry
    -- Apart, because Postgres would compare each entry with all deliveries of the webhook while it has no statistics of them.
    LEFT JOIN LATERAL (
      SELECT id, status FROM deliveries WHERE account = ${account} AND webhook = ${webhook} AND id = entry.delivery OFFSET 0
    ) AS d ON true
    WHERE ${choices[choice]}`;
}

/** SQL for the code that an event of an alert is about; empty if it is about none. */
export const codeOfAlert = (sql: Queryable): ReturnType<Queryable> => sql`coalesce(e.data ->> 'code', '')`;

/** The entries of the period that the webhook lets through now. */
function candidates(sql: Queryable, query: SelectionQuery, { after, to, owned }: OwnedPart, archived: ArchivedScan[]) {
  const { account, from_time, to_time, selection } = query;
  const { code_mode, types, qr_ids, tags } = selection;
  const changes = types.filter((type) => type !== 'code_scanned');
  const isWanted = (code: ReturnType<Queryable>) => sql`
    position > ${after} AND position <= ${to} AND occurred_at >= ${from_time} AND occurred_at < ${to_time}
    ${qr_ids === null ? sql`` : sql`AND ${code} = ANY(${qr_ids})`}
    ${tags === null ? sql`` : sql`AND code_tags_at(${code}, position) && ${tags}::text[]`}`;
  const isOwned = (positions: number[] | undefined) =>
    positions === undefined ? sql`` : sql`AND position ${isAt(sql, positions)}`;
  // Scans of deleted codes have left analytics and the feed, and are not sent either.
  const ofScan = sql`${isWanted(sql`s.code`)}
    AND NOT EXISTS (SELECT 1 FROM codes c WHERE c.id = s.code AND c.status = 'deleted')`;
  // A replay of changes alone does not read scans, and the other way round.
  return sql`
    SELECT position, id, code, 'code_scanned' AS type FROM scans s
    WHERE ${types.length > changes.length} AND s.account = ${account} AND s.mode = ${code_mode} AND ${ofScan}
      ${isOwned(owned?.scans)}
    ${
      archived.length === 0
        ? sql``
        : sql`
      UNION ALL
      SELECT position, id, code, 'code_scanned' FROM jsonb_to_recordset(${sql.json(archived.map((scan) => ({ ...scan })))})
        AS s (position bigint, id text, code text, occurred_at timestamptz)
      WHERE ${ofScan}`
    }
    UNION ALL
    SELECT position, e.id, stream AS code, type FROM events e
    WHERE e.type = ANY(${changes}) AND e.schema > 0 AND ${isWanted(sql`e.stream`)} ${isOwned(owned?.changes)}
      AND EXISTS (SELECT 1 FROM codes c WHERE c.id = e.stream AND c.account = ${account} AND c.mode = ${code_mode})
    UNION ALL
    SELECT position, e.id, ${codeOfAlert(sql)}, type FROM events e
    WHERE e.type = ANY(${changes}) AND e.schema > 0 AND ${isWanted(codeOfAlert(sql))} ${isOwned(owned?.changes)}
      AND e.stream = ${account} AND e.data ->> 'mode' = ${code_mode}`;
}
