import type { Sql } from 'postgres';
import type { RecordedScan } from '../events/scan.ts';

/** Scans as ClickHouse reads them: a tab between fields, a line a scan. */
export interface ScanRows {
  columns: readonly string[];
  lines: string;
  count: number;
}

// Names of places come from files of others.
const escapes: [string, string][] = [
  ['\\', '\\\\'],
  ['\t', '\\t'],
  ['\n', '\\n'],
  ['\r', '\\r'],
];
const escaped = (text: string) =>
  escapes.reduce((done, [character, written]) => done.replaceAll(character, written), text);
const escapedInSql = (column: string) =>
  escapes.reduce(
    (done, [character, written]) => `replace(${done}, ${literal(character)}, ${literal(written)})`,
    column,
  );
const literal = (text: string) => `'${text}'`;

/** Each column of the warehouse, as it is read from a scan of the log in memory, and in Postgres. */
const fields: Record<string, [ofScan: (scan: RecordedScan) => string | number | boolean, inSql: string]> = {
  account: [({ account }) => account, 's.account'],
  mode: [({ mode }) => mode, 's.mode'],
  code: [({ code }) => code, 's.code'],
  // Without the "Z", which ClickHouse would not read.
  time: [({ occurred_at }) => occurred_at.toISOString().slice(0, -1), "s.occurred_at AT TIME ZONE 'UTC'"],
  position: [({ position }) => position, 's.position'],
  id: [({ id }) => id, 's.id'],
  country: [({ country }) => country, 's.country'],
  region: [({ region }) => escaped(region), escapedInSql('s.region')],
  city: [({ city }) => escaped(city), escapedInSql('s.city')],
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

export function rowsOf(scans: RecordedScan[]): ScanRows {
  const lines = scans.map((scan) => `${readers.map((read) => read(scan)).join('\t')}\n`).join('');
  return { columns, lines, count: scans.length };
}

interface Piece {
  after: number;
  to: number;
  endedBy: number;
}

/**
 * The scans behind `after` up to `to`, straight from the log. A scan that comes behind the end of its code is left out,
 * and so are all scans of codes that had ended at `endedBy`.
 *
 * Postgres writes the lines itself, so that nothing has to be taken apart on the way. Not by COPY: `postgres` leaves the
 * socket paused behind one that ends just when its reader is busy, and the connection never answers again.
 */
export async function readRows(sql: Sql<{ bigint: number }>, { after, to, endedBy }: Piece): Promise<ScanRows> {
  const [row] = await sql<[{ lines: string; count: number }]>`
    SELECT coalesce(string_agg(concat_ws(E'\t', ${sql.unsafe(expressions.join(', '))}) || E'\n', ''), '') AS lines,
      count(*) AS count
    FROM scans s LEFT JOIN events e ON e.stream = s.code AND e.type = 'code_deleted'
    WHERE s.position > ${after} AND s.position <= ${to}
      AND (e.position IS NULL OR e.position > greatest(s.position, ${endedBy}))`;
  return { columns, ...row };
}
