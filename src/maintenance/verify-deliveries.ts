import type { ScanLine } from '../../events/scan-line.ts';
import { entryTypesOf, webhookEventTypes } from '../../events/webhooks/webhook-events.ts';
import { type WebhookSpan, WebhookSpans } from '../../events/webhooks/webhook-spans.ts';
import { webhooks } from '../../projections/webhooks.ts';
import type { Queryable, Sql } from '../lib/sql.ts';
import { headOfLog, readEvents } from '../log/read.ts';
import { readArchivedScans } from '../log/scan-lines.ts';
import { codeOfAlert, entryFilter } from '../webhooks/replay-selection.ts';
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
const positionsPerQuery = 50_000;
const deliveriesPerQuery = 20_000;
/** Deliveries are kept for at least seven days, so every entry that is younger must have one. */
const keptMs = 7 * 24 * 60 * 60 * 1000;
/** The clocks of edges and of Postgres differ by less than this. */
const maxSkewMs = 60 * 60 * 1000;

/**
 * Compares the deliveries with the log: each entry has one for each webhook
 * that was on and let it through, and no other, except those that a replay made.
 *
 * Deliveries come and go, so they are compared in one snapshot, which lasts only for the part of the log that can have some.
 * The history of the log must be fixed meanwhile.
 */
export async function verifyDeliveries(
  sql: Sql,
  { account, now = new Date() }: { account?: string | undefined; now?: Date } = {},
): Promise<DeliveriesVerified> {
  const events = new SpansOfLog();
  await events.readUpTo(sql, await positionOfDeliveries(sql));
  const compared = new Comparison();
  const { spans, since, ages, found } = await sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (tx) => {
    // It is idle while archive files are read.
    await tx`SET LOCAL idle_in_transaction_session_timeout = 0`;
    const position = await positionOfDeliveries(tx);
    const head = await headOfLog(tx, position);
    const spans = (await events.readUpTo(tx, head)).filter((span) => account === undefined || span.account === account);
    // A delivery can outlive a scan that the retention removes, so scans and deliveries from before its cutoff are ignored.
    const before = (await latestRun(tx))?.before ?? new Date(0);
    const ages: Ages = { before, oldest: new Date(now.getTime() - keptMs) };
    const found = await countDeliveries(tx, account, before);
    const since = Math.min(await positionBefore(tx, earlierOf(ages.oldest, found.earliest)), position);
    await compared.add(tx, spans, { after: since, to: position }, ages);
    await compared.addAhead(tx, spans, { after: position, to: head }, ages);
    return { spans, since, ages, found };
  });
  // The entries before have no deliveries. They are counted only.
  await compared.add(sql, spans, { after: 0, to: since }, ages);
  return { scans: compared.entries, waiting: found.waiting, differences: compared.differences(found.byCode) };
}

const earlierOf = (a: Date, b: Date) => (a < b ? a : b);

/** Entries and their deliveries, counted by code. */
class Comparison {
  entries = 0;
  readonly #missing = new Map<string, number>();
  readonly #matched = new Map<string, number>();

  async add(sql: Queryable, spans: WebhookSpan[], range: LogPositions, ages: Ages): Promise<void> {
    for await (const { code, entries, missing, matched } of comparePieces(sql, spans, range, ages)) {
      this.entries += entries;
      this.#missing.set(code, (this.#missing.get(code) ?? 0) + missing);
      this.#matched.set(code, (this.#matched.get(code) ?? 0) + matched);
    }
  }

  /** Of entries after the checkpoint, which need no delivery yet, some may have one (src/webhooks/lookahead.ts). */
  async addAhead(sql: Queryable, spans: WebhookSpan[], range: LogPositions, ages: Ages): Promise<void> {
    // Only what every projection has applied is archived.
    for await (const { code, matched } of comparePieces(sql, spans, range, ages, async () => []))
      this.#matched.set(code, (this.#matched.get(code) ?? 0) + matched);
  }

  differences(deliveriesOf: Map<string, number>): Difference[] {
    const found: Difference[] = [];
    const differ = (code: string, log: string, other: string) =>
      found.push({ what: 'webhooks', code, log, found: other });
    for (const [code, count] of this.#missing)
      if (count > 0) differ(code, `${count} events without delivery`, 'no delivery');
    for (const [code, deliveries] of deliveriesOf) {
      const extra = deliveries - (this.#matched.get(code) ?? 0);
      if (extra !== 0) differ(code, 'no events for these deliveries', `${extra} deliveries`);
    }
    return found;
  }
}

interface Deliveries {
  byCode: Map<string, number>;
  waiting: number;
  /** When the earliest of their entries happened. */
  earliest: Date;
}

async function countDeliveries(sql: Queryable, account: string | undefined, before: Date): Promise<Deliveries> {
  const found: Deliveries = { byCode: new Map(), waiting: 0, earliest: new Date(8.64e15) };
  for (let after = { account: account ?? '', webhook: '', id: '' }; ; ) {
    const [page] = await sql<[DeliveryPage]>`
      WITH page AS MATERIALIZED (
        SELECT * FROM deliveries
        WHERE (account, webhook, id) > (${after.account}, ${after.webhook}, ${after.id})
          ${account === undefined ? sql`` : sql`AND account = ${account}`}
        ORDER BY account, webhook, id LIMIT ${deliveriesPerQuery}
      ), counted AS (
        SELECT code, count(*) AS deliveries, count(*) FILTER (WHERE status = 'pending') AS waiting,
          min(coalesce(scanned_at, occurred_at)) AS earliest
        FROM page
        WHERE replay IS NULL AND (type <> 'scan.created' OR coalesce(scanned_at, occurred_at) >= ${before})
          AND account NOT IN (SELECT account FROM erasures WHERE done_at IS NULL)
        GROUP BY code
      )
      SELECT (SELECT json_object_agg(code, deliveries) FROM counted)::text AS "byCode",
        (SELECT coalesce(sum(waiting), 0)::bigint FROM counted) AS waiting, (SELECT min(earliest) FROM counted) AS earliest,
        (SELECT json_build_object('account', account, 'webhook', webhook, 'id', id) FROM page
          ORDER BY account DESC, webhook DESC, id DESC LIMIT 1)::text AS last`;
    for (const [code, count] of Object.entries<number>(JSON.parse(page.byCode ?? '{}')))
      found.byCode.set(code, (found.byCode.get(code) ?? 0) + count);
    found.waiting += page.waiting;
    if (page.earliest !== null && page.earliest < found.earliest) found.earliest = page.earliest;
    if (page.last === null) return found;
    after = JSON.parse(page.last);
  }
}

interface DeliveryPage {
  /** JSON, or null if there are none. */
  byCode: string | null;
  waiting: number;
  earliest: Date | null;
  /** The key of the last delivery in JSON; null if there is none. */
  last: string | null;
}

/** A position before the first entry that can have happened since `time`. */
async function positionBefore(sql: Queryable, time: Date): Promise<number> {
  const [{ position }] = await sql<[{ position: number }]>`
    SELECT coalesce(max(position), 0) AS position FROM log_times WHERE at <= ${new Date(time.getTime() - maxSkewMs)}`;
  return position;
}

export async function positionOfDeliveries(sql: Queryable): Promise<number> {
  const [row] = await sql<{ position: number }[]>`SELECT position FROM checkpoints WHERE projection = ${webhooks.name}`;
  return row?.position ?? 0;
}

/** Computes from the events of the log when each webhook was on, and what it got. */
class SpansOfLog {
  readonly #spans = new WebhookSpans();
  #readTo = 0;

  /** The spans up to a position that is not before the position of the last call. */
  async readUpTo(sql: Queryable, to: number): Promise<WebhookSpan[]> {
    for (;;) {
      const events = (await readEvents(sql, this.#readTo, eventsPerQuery)).filter(({ position }) => position <= to);
      for (const event of events) this.#spans.apply(event);
      this.#readTo = events.at(-1)?.position ?? this.#readTo;
      // The erasure removes deliveries, scans and events one after the other, so deleted accounts are not compared.
      if (events.length === 0) return this.#spans.upTo(to);
    }
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

/** Positions after `after`, up to `to`. */
interface LogPositions {
  after: number;
  to: number;
}

async function* comparePieces(
  sql: Queryable,
  spans: WebhookSpan[],
  { after, to }: LogPositions,
  ages: Ages,
  readArchived = archivedScans,
) {
  for (let from = after; from < to; from += positionsPerQuery) {
    const piece = { after: from, to: Math.min(from + positionsPerQuery, to) };
    const inPiece = spans.filter((span) => span.after < piece.to && span.to > piece.after);
    if (inPiece.length === 0) continue;
    const archived = await readArchived(sql, piece, new Set(inPiece.map(({ account }) => account)), ages.before);
    yield* await compare(sql, inPiece, piece, ages, archived);
  }
}

async function compare(
  sql: Queryable,
  spans: WebhookSpan[],
  piece: LogPositions,
  { before, oldest }: Ages,
  archived: ArchivedScan[],
) {
  const rows = spans.map(({ account, webhook, after, to, filter }) => ({
    account,
    webhook,
    mode: filter.mode,
    after,
    to,
    ...entryFilter(filter),
  }));
  return sql<Compared[]>`
    SELECT entry.code, count(*) AS entries, count(d.id) FILTER (WHERE d.replay IS NULL) AS matched,
      count(*) FILTER (WHERE d.id IS NULL AND entry.occurred_at > ${oldest}) AS missing
    FROM jsonb_to_recordset(${sql.json(rows)}) AS span (account text, webhook text, mode text, after bigint, "to" bigint,
      types text[], qr_ids text[], tags text[])
    JOIN (${reportedEntries(sql, piece, before, archived)}) AS entry
      ON entry.account = span.account AND entry.mode = span.mode
      AND entry.position > span.after AND entry.position <= span."to"
      AND entry.type = ANY(span.types)
      AND (span.qr_ids IS NULL OR entry.code = ANY(span.qr_ids))
      AND (span.tags IS NULL OR code_tags_at(entry.code, entry.position) && span.tags)
      -- What happened before an account came from another instance was sent there.
      AND NOT EXISTS (
        SELECT FROM (
          SELECT * FROM account_imports WHERE account = entry.account ORDER BY number DESC LIMIT 1
        ) AS i
        WHERE entry.position > i.after_position AND entry.position <= coalesce(i.to_position, entry.position)
      )
    LEFT JOIN deliveries d
      -- With the collation of the index, which a column of a record set does not have.
      ON d.account = entry.account AND d.webhook = span.webhook COLLATE "C" AND d.id = 'whd_' || substr(entry.id, strpos(entry.id, '_') + 1)
    GROUP BY entry.code`;
}

type ArchivedScan = Pick<ScanLine, 'position' | 'id' | 'account' | 'mode' | 'code'> & { occurred_at: string };

/** The archived scans of accounts in a part of the log. */
async function archivedScans(
  sql: Queryable,
  piece: LogPositions,
  accounts: Set<string>,
  before: Date,
): Promise<ArchivedScan[]> {
  const scans = await readArchivedScans(sql, piece, (scan) => accounts.has(scan.account) && scan.occurred_at >= before);
  return scans.map(({ position, id, account, mode, code, occurred_at }) => ({
    position,
    id,
    account,
    mode,
    code,
    occurred_at: occurred_at.toISOString(),
  }));
}

/** The entries of a part of the log that webhooks can get. Only scans leave the log, so `before` is about them. */
function reportedEntries(sql: Queryable, { after, to }: LogPositions, before: Date, archived: ArchivedScan[]) {
  const changes = entryTypesOf(webhookEventTypes).filter((type) => type !== 'code_scanned');
  return sql`
    SELECT position, id, account, mode, code, 'code_scanned' AS type, occurred_at FROM scans
    WHERE position > ${after} AND position <= ${to} AND occurred_at >= ${before}
    UNION ALL
    SELECT position, id, account, mode, code, 'code_scanned', occurred_at FROM jsonb_to_recordset(${sql.json(archived)})
      AS archived (position bigint, id text, account text, mode text, code text, occurred_at timestamptz)
    UNION ALL
    SELECT e.position, e.id, c.account, c.mode, e.stream, e.type, e.occurred_at
    FROM events e JOIN codes c ON c.id = e.stream
    WHERE e.position > ${after} AND e.position <= ${to} AND e.type = ANY(${changes})
    UNION ALL
    SELECT e.position, e.id, e.stream, e.data ->> 'mode', ${codeOfAlert(sql)}, e.type, e.occurred_at
    FROM events e
    WHERE e.position > ${after} AND e.position <= ${to} AND e.type IN ('alert_raised', 'alert_cleared') AND e.schema > 0`;
}
