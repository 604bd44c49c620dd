import { reportedTypes } from '../../events/notification.ts';
import { entryTypesOf, webhookEventTypes } from '../../events/webhook-events.ts';
import { type WebhookSpan, WebhookSpans } from '../../events/webhook-spans.ts';
import { webhooks } from '../../projections/webhooks.ts';
import type { Queryable, Sql } from '../log/connect.ts';
import { holdPartitions } from '../log/partitions.ts';
import { readEvents } from '../log/read.ts';
import { readArchivedScans } from '../log/scan-lines.ts';
import { entryFilter } from '../webhooks/replay-selection.ts';
import { latestRun } from './retention.ts';
import type { Difference } from './scan-counts.ts';

export interface DeliveriesVerified {
  /** Scans and other entries that a webhook got, once for each webhook. */
  scans: number;
  /** Deliveries that are not yet sent, which is not a difference. */
  waiting: number;
  differences: Difference[];
}

const eventsPerQuery = 5_000;
const positionsPerQuery = 500_000;
/** Deliveries are kept for at least seven days, so every entry that is younger must have one. */
const keptMs = 7 * 24 * 60 * 60 * 1000;

/**
 * Compares the deliveries with the log: each entry has one for each webhook
 * that was on and let it through, and no other, except those that a replay made.
 */
export const verifyDeliveries = (
  sql: Sql,
  { account, now = new Date() }: { account?: string | undefined; now?: Date } = {},
): Promise<DeliveriesVerified> =>
  sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (tx) => {
    await holdPartitions(tx);
    const position = await positionOfDeliveries(tx);
    const spans = (await spansOf(tx, position)).filter((span) => account === undefined || span.account === account);
    // A delivery can outlive a scan that the retention removes, so scans and deliveries from before its cutoff are ignored.
    const before = (await latestRun(tx))?.before ?? new Date(0);
    const ages = { before, oldest: new Date(now.getTime() - keptMs) };
    const [missing, matched] = [new Map<string, number>(), new Map<string, number>()];
    let scans = 0;
    for (let from = 0; from < position; from += positionsPerQuery) {
      for (const row of await compare(
        tx,
        spans,
        { after: from, to: Math.min(from + positionsPerQuery, position) },
        ages,
      )) {
        scans += row.entries;
        missing.set(row.code, (missing.get(row.code) ?? 0) + row.missing);
        matched.set(row.code, (matched.get(row.code) ?? 0) + row.matched);
      }
    }
    const found = await tx<{ code: string; deliveries: number; waiting: number }[]>`
      SELECT code, count(*) AS deliveries, count(*) FILTER (WHERE status = 'pending') AS waiting
      FROM webhook_deliveries
      WHERE replay IS NULL AND (type <> 'scan.created' OR coalesce(scanned_at, occurred_at) >= ${before}) AND account NOT IN (SELECT account FROM erasures WHERE done_at IS NULL)
        ${account === undefined ? tx`` : tx`AND account = ${account}`}
      GROUP BY code`;
    const differences: Difference[] = [];
    const differ = (code: string, log: string, other: string) =>
      differences.push({ what: 'webhooks', code, log, found: other });
    for (const [code, count] of missing) if (count > 0) differ(code, `${count} events without delivery`, 'no delivery');
    for (const { code, deliveries } of found) {
      const extra = deliveries - (matched.get(code) ?? 0);
      if (extra !== 0) differ(code, 'no events for these deliveries', `${extra} deliveries`);
    }
    return { scans, waiting: found.reduce((sum, { waiting }) => sum + waiting, 0), differences };
  });

export async function positionOfDeliveries(sql: Queryable): Promise<number> {
  const [row] = await sql<{ position: number }[]>`SELECT position FROM checkpoints WHERE projection = ${webhooks.name}`;
  return row?.position ?? 0;
}

/** Computes from the events of the log when each webhook was on, and what it got. */
async function spansOf(sql: Queryable, upTo: number): Promise<WebhookSpan[]> {
  const spans = new WebhookSpans();
  for (let after = 0; ; ) {
    const events = await readEvents(sql, after, eventsPerQuery);
    for (const event of events) if (event.position <= upTo) spans.apply(event);
    const last = events.at(-1);
    // The erasure removes deliveries, scans and events one after the other, so deleted accounts are not compared.
    if (last === undefined || events.length < eventsPerQuery || last.position > upTo) return spans.upTo(upTo);
    after = last.position;
  }
}

interface Ages {
  /** Scans from before this time, and their deliveries, are not compared. */
  before: Date;
  /** Entries since this time must have a delivery. */
  oldest: Date;
}

interface Compared {
  code: string;
  entries: number;
  matched: number;
  missing: number;
}

async function compare(
  sql: Queryable,
  all: WebhookSpan[],
  piece: { after: number; to: number },
  { before, oldest }: Ages,
) {
  const spans = all.filter(({ after, to }) => after < piece.to && to > piece.after);
  if (spans.length === 0) return [];
  const archived = await archivedScans(sql, piece, new Set(spans.map(({ account }) => account)), before);
  const rows = spans.map(({ account, mode, code_mode, after, to, filter }) => ({
    ...{ account, mode, code_mode, after, to, ...entryFilter(filter) },
  }));
  return sql<Compared[]>`
    SELECT entry.code, count(*) AS entries, count(d.id) FILTER (WHERE d.replay IS NULL) AS matched,
      count(*) FILTER (WHERE d.id IS NULL AND entry.occurred_at > ${oldest}) AS missing
    FROM jsonb_to_recordset(${sql.json(rows)}) AS span (account text, mode text, code_mode text, after bigint, "to" bigint,
      types text[], qr_ids text[], tags text[])
    JOIN (${reportedEntries(sql, piece, before, archived)}) AS entry
      ON entry.account = span.account AND entry.mode = span.code_mode
      AND entry.position > span.after AND entry.position <= span."to"
      AND entry.type = ANY(span.types)
      AND (span.qr_ids IS NULL OR entry.code = ANY(span.qr_ids))
      AND (span.tags IS NULL OR code_tags_at(entry.code, entry.position) && span.tags)
    LEFT JOIN webhook_deliveries d
      -- With the collation of the index, which a column of a record set does not have.
      ON d.account = entry.account AND d.mode = span.mode COLLATE "C" AND d.id = 'whd_' || substr(entry.id, strpos(entry.id, '_') + 1)
    GROUP BY entry.code`;
}

/** The archived scans of accounts in a part of the log. */
async function archivedScans(
  sql: Queryable,
  piece: { after: number; to: number },
  accounts: Set<string>,
  before: Date,
) {
  const scans = await readArchivedScans(sql, piece, (scan) => accounts.has(scan.account) && scan.occurred_at >= before);
  return scans.map(({ position, id, account, mode, code, occurred_at }) => ({
    ...{ position, id, account, mode, code, occurred_at: occurred_at.toISOString() },
  }));
}

/** The entries of a part of the log that webhooks can get. Only scans leave the log, so `before` is about them. */
function reportedEntries(
  sql: Queryable,
  { after, to }: { after: number; to: number },
  before: Date,
  archived: Awaited<ReturnType<typeof archivedScans>>,
) {
  const changes = [...reportedTypes, ...entryTypesOf(webhookEventTypes)].filter((type) => type !== 'code_scanned');
  return sql`
    SELECT position, id, account, mode, code, 'code_scanned' AS type, occurred_at FROM scans
    WHERE position > ${after} AND position <= ${to} AND occurred_at >= ${before}
    UNION ALL
    SELECT position, id, account, mode, code, 'code_scanned', occurred_at FROM jsonb_to_recordset(${sql.json(archived)})
      AS archived (position bigint, id text, account text, mode text, code text, occurred_at timestamptz)
    UNION ALL
    SELECT e.position, e.id, c.account, c.mode, e.stream, e.type, e.occurred_at
    FROM events e JOIN codes c ON c.id = e.stream
    WHERE e.position > ${after} AND e.position <= ${to} AND e.type = ANY(${changes})`;
}
