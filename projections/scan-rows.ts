import type { Sql } from 'postgres';
import type { RecordedScan } from '../events/scan.ts';

/** Scans as lines of the warehouse: how Postgres copies rows is how ClickHouse reads them. */
export interface ScanRows {
  columns: readonly string[];
  lines: string | Buffer;
  count: number;
}

/** Each column of the warehouse, as it is read from a scan of the log in memory, and in Postgres. */
const fields: Record<string, [ofScan: (scan: RecordedScan) => string | number | boolean, inSql: string]> = {
  account: [({ account }) => account, 's.account'],
  mode: [({ mode }) => mode, 's.mode'],
  code: [({ code }) => code, 's.code'],
  // Without the "Z", which ClickHouse would not read.
  time: [({ occurred_at }) => occurred_at.toISOString().slice(0, -1), "s.occurred_at AT TIME ZONE 'UTC'"],
  position: [({ position }) => position, 's.position'],
  id: [({ id }) => id, 's.id'],
  country: [({ country }) => escaped(country), 's.country'],
  region: [({ region }) => escaped(region), 's.region'],
  city: [({ city }) => escaped(city), 's.city'],
  device: [({ device }) => device, 's.device'],
  browser: [({ browser }) => browser, 's.browser'],
  is_bot: [({ is_bot }) => is_bot, 's.is_bot'],
  visitor: [({ visitor }) => visitor, 's.visitor'],
  is_unique: [({ is_unique }) => is_unique, 's.is_unique'],
  revision: [({ revision }) => revision, 's.revision'],
};
const columns = Object.keys(fields);
const readers = Object.values(fields).map(([ofScan]) => ofScan);
const expressions = Object.values(fields).map(([, inSql]) => inSql);

const escapes: Record<string, string> = { '\t': '\\t', '\n': '\\n', '\r': '\\r', '\\': '\\\\' };
const escaped = (text: string) => text.replace(/[\t\n\r\\]/g, (character) => escapes[character] as string);

export function rowsOf(scans: RecordedScan[]): ScanRows {
  const lines = scans.map((scan) => `${readers.map((read) => read(scan)).join('\t')}\n`).join('');
  return { columns, lines, count: scans.length };
}

/**
 * The scans behind `after` up to `to`, straight from the log. A scan that comes behind the end of its code is left out,
 * and so are all scans of codes that had ended at `endedBy`.
 */
export async function copyRows(sql: Sql<{ bigint: number }>, range: CopyRange): Promise<ScanRows> {
  const { after, to, endedBy } = range;
  // A statement that copies takes no parameters; these are numbers.
  const query = `
    COPY (
      SELECT ${expressions.join(', ')}
      FROM scans s LEFT JOIN events e ON e.stream = s.code AND e.type = 'code_deleted'
      WHERE s.position > ${after} AND s.position <= ${to}
        AND (e.position IS NULL OR e.position > greatest(s.position, ${endedBy}))
    ) TO STDOUT`;
  const chunks: Buffer[] = [];
  const copying = await sql.unsafe(query).readable();
  for await (const chunk of copying) chunks.push(chunk);
  const lines = Buffer.concat(chunks);
  return { columns, lines, count: countLines(lines) };
}

interface CopyRange {
  after: number;
  to: number;
  endedBy: number;
}

function countLines(lines: Buffer): number {
  let count = 0;
  for (let at = lines.indexOf(10); at !== -1; at = lines.indexOf(10, at + 1)) count++;
  return count;
}
