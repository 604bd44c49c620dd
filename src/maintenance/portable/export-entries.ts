import type { ScanLine } from '../../../events/scan-line.ts';
import type { Sql } from '../../lib/sql.ts';
import { blockSize, indexedTo } from '../../log/account-index.ts';
import { readOwnedScans } from '../../log/scan-lines.ts';
import type { FileLines } from './export-records.ts';

/** Positions of one read: up to 4 MB of scans. */
const positionsPerRead = 16_384;
/** A change of rules can have 130 kB. */
const eventsPerRead = 200;

interface Range {
  after: number;
  to: number;
}

/** The entries of an account up to position `head`, in log order: those in archive files, too. */
export async function* accountEntries(
  sql: Sql,
  account: string,
  head: number,
  onPosition: (position: number) => unknown,
): AsyncGenerator<FileLines> {
  for await (const range of rangesOf(sql, account, head))
    for (let after = range.after; after < range.to; ) {
      const part = await readPart(sql, account, { after, to: Math.min(after + positionsPerRead, range.to) });
      if (part.count > 0) yield part;
      after = part.to;
      await onPosition(after);
    }
}

/** The parts of the log in which the account can have entries. */
async function* rangesOf(sql: Sql, account: string, head: number): AsyncGenerator<Range> {
  const indexed = Math.min(await indexedTo(sql), head);
  const blocks = await sql<{ block: number }[]>`
    SELECT DISTINCT block FROM account_blocks
    WHERE account = ${account} AND block * ${blockSize}::bigint < ${indexed} ORDER BY block`;
  for (const { block } of blocks) yield { after: block * blockSize, to: Math.min((block + 1) * blockSize, indexed) };
  if (indexed < head) yield { after: indexed, to: head };
}

/** The entries of a part, and the position up to which they are complete. */
async function readPart(sql: Sql, account: string, { after, to }: Range): Promise<FileLines & { to: number }> {
  const events = await sql<{ position: number; line: string }[]>`
    SELECT e.position, json_build_object('position', e.position, 'id', e.id, 'stream', e.stream, 'version', e.version,
      'type', e.type, 'schema', e.schema, 'data', e.data, 'actor', e.actor, 'occurred_at', e.occurred_at)::text AS line
    FROM events e LEFT JOIN codes c ON c.id = e.stream
    WHERE e.position > ${after} AND e.position <= ${to} AND (e.stream = ${account} OR c.account = ${account})
    ORDER BY e.position LIMIT ${eventsPerRead}`;
  const end = events.length === eventsPerRead ? (events.at(-1)?.position ?? to) : to;
  const read = (mode: 'live' | 'test') => readOwnedScans(sql, { account, mode, after, to: end }, positionsPerRead);
  const [live, test] = await Promise.all([read('live'), read('test')]);
  const scans = merged(live, test);
  const lines = mergedLines(events, scans);
  return { text: lines.join(''), count: lines.length, to: end };
}

const merged = (live: ScanLine[], test: ScanLine[]): ScanLine[] =>
  test.length === 0 ? live : [...live, ...test].sort((a, b) => a.position - b.position);

/** Lines of both in log order. */
function mergedLines(events: { position: number; line: string }[], scans: ScanLine[]): string[] {
  const lines: string[] = [];
  let next = 0;
  for (const scan of scans) {
    for (let event = events[next]; event !== undefined && event.position < scan.position; event = events[++next])
      lines.push(`${event.line}\n`);
    lines.push(`${scan.line}\n`);
  }
  for (const { line } of events.slice(next)) lines.push(`${line}\n`);
  return lines;
}
