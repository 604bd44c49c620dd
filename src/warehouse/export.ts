import { WarehouseAway } from './errors.ts';
import { binaryOf, type Reading } from './reading.ts';
import { timestamp } from './scans.ts';
import { parametersOf, type Selection, scope, timeParameter } from './selection.ts';
import { tableName } from './tables.ts';

export type ExportFormat = 'csv' | 'json';

/** A scan's place in the order of an export. */
export interface Place {
  time: Date;
  position: number;
}

export interface Chunk {
  rows: number;
  /** The place of its last scan. */
  last: Place;
  /** Its scans as they stand in the file, in pieces: to join megabytes would leave as many behind for the collector. */
  text: Buffer[];
}

/** Text that a spreadsheet would take for a formula gets an apostrophe before it; quotes are by RFC 4180. */
function cell(column: string): string {
  const harmless = `if(match(${column}, '^[-=+@\\t\\r\\n]'), concat('\\'', ${column}), ${column})`;
  return `if(match(${column}, '[",\\r\\n]'), concat('"', replaceAll(${harmless}, '"', '""'), '"'), ${harmless})`;
}

const fields = ['country', 'region', 'city', 'device', 'browser'];
const truth = (column: string) => `if(${column}, 'true', 'false')`;

/** How ClickHouse writes a scan. It has the time to; the process that asks has redirects to answer meanwhile. */
const lines: Record<ExportFormat, string> = {
  csv: `concat(${['id', timestamp, ...fields.map(cell), truth('is_unique')].join(", ',', ")}, '\\r\\n')`,
  json: `concat('{"id":', toJSONString(id), ',"timestamp":"', ${timestamp}, '"',
    ${fields.map((field) => `',"${field}":', toJSONString(${field}), `).join('')}
    ',"is_unique":', ${truth('is_unique')}, ',"is_bot":', ${truth('is_bot')}, '}')`,
};

const between: Record<ExportFormat, string> = { csv: '', json: ',' };

/**
 * Up to `limit` scans of the log up to `upTo`, from the oldest on, behind those that came before. No read stays open
 * while a slow client takes what it was given.
 */
export async function readChunk(
  reading: Reading,
  selection: Selection,
  { format, upTo, after, limit }: { format: ExportFormat; upTo: number; after: Place | undefined; limit: number },
): Promise<Chunk> {
  const behind = `AND time >= ${timeParameter('after_time')}
    AND (time > ${timeParameter('after_time')} OR position > {after_position:UInt64})`;
  const row = await binaryOf(
    reading,
    `SELECT count() AS rows, toUnixTimestamp64Milli(max((time, position)).1), max((time, position)).2,
       arrayStringConcat(groupArray(line), '${between[format]}')
     FROM (
       SELECT time, position, ${lines[format]} AS line
       FROM ${tableName(reading.warehouse, reading.version)}
       WHERE ${scope(selection)} AND time >= ${timeParameter('from')} AND time < ${timeParameter('until')}
         AND position <= {up_to:UInt64} ${after === undefined ? '' : behind}
       ORDER BY time, position
       LIMIT {limit:UInt32}
     )`,
    {
      ...parametersOf(selection),
      ...{ up_to: upTo, limit },
      ...(after === undefined ? {} : { after_time: after.time, after_position: after.position }),
    },
  );
  return chunkOf(row);
}

/** Three numbers of 8 bytes, and the length of the text, 7 bits a byte, which ends with a byte below 0x80. */
const headMost = 3 * 8 + 10;

/** RowBinary: the head, then the text. */
function chunkOf(pieces: Buffer[]): Chunk {
  const [head = Buffer.alloc(0), ...rest] = (pieces[0]?.length ?? 0) < headMost ? [Buffer.concat(pieces)] : pieces;
  if (head.length < 25) throw brokenOff();
  let at = 24;
  let length = 0;
  for (let scale = 1, byte = 0x80; byte >= 0x80; scale *= 128) {
    if (at === head.length) throw brokenOff();
    byte = head.readUInt8(at++);
    length += (byte % 128) * scale;
  }
  const text = [head.subarray(at), ...rest];
  if (text.reduce((sum, piece) => sum + piece.length, 0) !== length) throw brokenOff();
  return {
    rows: Number(head.readBigUInt64LE(0)),
    last: { time: new Date(Number(head.readBigInt64LE(8))), position: Number(head.readBigUInt64LE(16)) },
    text,
  };
}

const brokenOff = () => new WarehouseAway('ClickHouse broke off in the middle of a chunk');
