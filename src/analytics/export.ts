import { WarehouseUnavailable } from './errors.ts';
import { binaryOf, hasRules, type Reading } from './reading.ts';
import { timestamp } from './scans.ts';
import { parametersOf, type Selection, scope, timeParameter } from './selection.ts';
import { leadKeySql } from './series.ts';
import { tableName } from './tables.ts';

export type ExportFormat = 'csv' | 'json';

/** Where a scan is in the order of an export. */
export interface ExportCursor {
  time: Date;
  position: number;
}

export interface Chunk {
  rows: number;
  last: ExportCursor;
  /** The scans as text of the file, in the buffers that arrived: joining them would create megabytes of garbage. */
  text: Buffer[];
}

/** SQL for a CSV cell, quoted by RFC 4180; an apostrophe keeps a spreadsheet from evaluating it as a formula. */
function cell(column: string): string {
  const notAFormula = `if(match(${column}, '^[-=+@\\t\\r\\n]'), concat('\\'', ${column}), ${column})`;
  return `if(match(${column}, '[",\\r\\n]'), concat('"', replaceAll(${notAFormula}, '"', '""'), '"'), ${notAFormula})`;
}

const fields = ['country', 'region', 'city', 'device', 'browser'];
const booleanText = (column: string) => `if(${column}, 'true', 'false')`;

const csvText = (cells: string[]) => cells.join(", ',', ");
const csvCells = ['id', timestamp, ...fields.map(cell), booleanText('is_unique')];

/** SQL for the ids of rule and variant; empty if there is none, and for the fallback. */
const ruleSql = (reading: Reading) => (hasRules(reading) ? "if(startsWith(rule, 'f'), '', toString(rule))" : "''");
const variantSql = (reading: Reading) => (hasRules(reading) ? 'toString(variant)' : "''");
const orNull = (text: string) => `if(${text} = '', 'null', toJSONString(${text}))`;

/** SQL for the text of a scan. ClickHouse formats it, to leave our event loop to redirects. */
function lineSql(reading: Reading, { format, withCode, withLeads }: ChunkOptions): string {
  const lead = withLeads ? `code, ' ', ${leadKeySql(reading)}, '\\0', ` : '';
  if (format === 'json')
    return `concat(${lead}'{', ${withCode ? `'"qr_id":', toJSONString(code), ',', ` : ''}
      '"id":', toJSONString(id), ',"timestamp":"', ${timestamp}, '"',
      ${fields.map((field) => `',"${field}":', toJSONString(${field}), `).join('')}
      ',"is_unique":', ${booleanText('is_unique')}, ',"is_bot":', ${booleanText('is_bot')},
      ',"rule":', ${orNull(ruleSql(reading))}, ',"variant":', ${orNull(variantSql(reading))}${withLeads ? '' : ", '}'"})`;
  const cells = [...(withCode ? ['code'] : []), ...csvCells];
  if (!withLeads) return `concat(${csvText(cells)}, '\\r\\n')`;
  const more = [booleanText('is_bot'), ruleSql(reading), variantSql(reading)];
  return `concat(${lead}${csvText([...cells, ...more])})`;
}

const separatorOf = ({ format, withLeads }: ChunkOptions) => (withLeads ? '\\0' : format === 'json' ? ',' : '');

export interface ChunkOptions {
  format: ExportFormat;
  /** Whether each scan begins with its code. */
  withCode: boolean;
  /**
   * Adds bot flag, rule and variant to each line of CSV, and leaves the end of each scan, what only Postgres has, to the caller. The
   * text is then `<code> <leadKey>`, NUL, the scan without its end, NUL, and so on. No scan contains NUL, since no text in
   * Postgres can.
   */
  withLeads: boolean;
  upTo: number;
  after: ExportCursor | undefined;
  limit: number;
}

/**
 * Up to `limit` scans after the cursor `after`, oldest first, from the log up to position `upTo`. Each chunk is a separate
 * query, so that no query stays open while a slow client downloads.
 */
export async function readChunk(reading: Reading, selection: Selection, options: ChunkOptions): Promise<Chunk> {
  const { upTo, after, limit } = options;
  const afterCursor = `AND time >= ${timeParameter('after_time')}
    AND (time > ${timeParameter('after_time')} OR position > {after_position:UInt64})`;
  const row = await binaryOf(
    reading,
    `SELECT count() AS rows, toUnixTimestamp64Milli(max((time, position)).1), max((time, position)).2,
       arrayStringConcat(groupArray(line), '${separatorOf(options)}')
     FROM (
       SELECT time, position, ${lineSql(reading, options)} AS line
       FROM ${tableName(reading.warehouse, reading.version)}
       WHERE ${scope(selection)} AND time >= ${timeParameter('from')} AND time < ${timeParameter('until')}
         AND position <= {up_to:UInt64} ${after === undefined ? '' : afterCursor}
       ORDER BY time, position
       LIMIT {limit:UInt32}
     )`,
    {
      ...parametersOf(selection),
      up_to: upTo,
      limit,
      ...(after === undefined ? {} : { after_time: after.time, after_position: after.position }),
    },
  );
  return chunkOf(row);
}

/** Three 8-byte numbers, and the length of the text as a varint of at most 10 bytes. */
const numbersBytes = 3 * 8;
const maxHeadBytes = numbersBytes + 10;

/** Decodes a RowBinary row: the head, then the text. */
function chunkOf(pieces: Buffer[]): Chunk {
  const [head = Buffer.alloc(0), ...rest] = (pieces[0]?.length ?? 0) < maxHeadBytes ? [Buffer.concat(pieces)] : pieces;
  if (head.length <= numbersBytes) throw truncated();
  let at = numbersBytes;
  let length = 0;
  for (let scale = 1, byte = 0x80; byte >= 0x80; scale *= 128) {
    if (at === head.length) throw truncated();
    byte = head.readUInt8(at++);
    length += (byte % 128) * scale;
  }
  const text = [head.subarray(at), ...rest];
  if (text.reduce((sum, piece) => sum + piece.length, 0) !== length) throw truncated();
  return {
    rows: Number(head.readBigUInt64LE(0)),
    last: { time: new Date(Number(head.readBigInt64LE(8))), position: Number(head.readBigUInt64LE(16)) },
    text,
  };
}

const truncated = () =>
  new WarehouseUnavailable('ClickHouse ended its response in the middle of a chunk of the export');
