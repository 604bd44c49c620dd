import { zstdDecompressSync } from 'node:zlib';
import type { AsyncBuffer, FileMetaData, RowGroup } from 'hyparquet';
import { lineFields } from '../../events/scan-line.ts';
import { refuseNewer } from '../../events/wire/newer-version.ts';
import { checkBlock, checkFooter } from './check-damage.ts';
import { columnNames, columns, parsers } from './columns.ts';
import { ArchiveError } from './errors.ts';
import { type ArchiveAbout, archiveFormat, type Limits, limitsOf, pageBytes } from './format.ts';

/** Loaded with the first file that is read. */
const reader = () => import('hyparquet');

/** A page ends after the value that exceeds its size, but a dictionary is one page. A row group has the scans of one block. */
const maxPageBytes = 4 * pageBytes;
const maxBlockScans = 65_536;

/** `size` is what the page says it has. A page of a damaged file must not decompress to gigabytes. */
const decompress = (bytes: Uint8Array, size: number) =>
  zstdDecompressSync(bytes, { maxOutputLength: Math.max(1, Math.min(size, maxPageBytes)) });

/** The bytes of a file. */
export interface ArchiveSource {
  location: string;
  bytes: number;
  /** Bytes from `start` to before `end`. */
  read(start: number, end: number): Promise<Uint8Array>;
}

/** A block of an archive file. */
export interface ArchiveBlock {
  /** Its index in the file. */
  index: number;
  scans: number;
  /** Positions of its first and last scan. */
  first: number;
  last: number;
  /** The time of its latest scan, in microseconds since 1970. */
  latestMicros: bigint;
}

/** An archive file whose footer has been read. */
export interface OpenArchive {
  source: ArchiveSource;
  about: ArchiveAbout;
  blocks: ArchiveBlock[];
  metadata: FileMetaData;
}

const notAnArchive = (location: string, reason: string) =>
  new ArchiveError(`${location} is not a complete archive file of Scanlog: ${reason}.`);

/** Reads the footer of an archive file; throws `NewerVersion` if a newer version has written it. */
export async function openArchive(source: ArchiveSource): Promise<OpenArchive> {
  const metadata = await readMetadata(source);
  const isKnown = hasOurSchema(metadata) && Array.isArray(metadata.row_groups);
  const values = textsOf(metadata);
  const version = Number(values.get('scanlog_archive'));
  if (!Number.isInteger(version)) throw notAnArchive(source.location, 'its metadata lacks scanlog_archive');
  refuseNewer(`The archive file ${source.location}`, version, archiveFormat);
  const text = (key: keyof ArchiveAbout) => values.get(key) ?? '';
  const about: ArchiveAbout = {
    from: Number(text('from')),
    to: Number(text('to')),
    scans: Number(text('scans')),
    earliest: text('earliest'),
    latest: text('latest'),
    instance: text('instance'),
  };
  const numbers = [about.from, about.to, about.scans];
  if (!isKnown || !numbers.every(Number.isSafeInteger)) throw notAnArchive(source.location, 'its metadata is damaged');
  return { source, about, blocks: metadata.row_groups.map((group, index) => blockOf(group, index, source)), metadata };
}

/** Footers are shorter than this, unless a file has hundreds of blocks. */
const likelyFooterBytes = 128 * 1024;
/** The length of the footer, and the mark at the end of every Parquet file. */
const endBytes = 8;

async function readMetadata({ location, bytes, read }: ArchiveSource): Promise<FileMetaData> {
  const end = await read(Math.max(0, bytes - likelyFooterBytes), bytes);
  if (end.length < endBytes) throw notAnArchive(location, 'it is too short');
  const length = endBytes + new DataView(end.buffer, end.byteOffset).getUint32(end.length - endBytes, true);
  if (length > bytes) throw notAnArchive(location, 'its footer is damaged');
  const footer = length <= end.length ? end.subarray(end.length - length) : await read(bytes - length, bytes);
  const { parquetMetadata } = await reader();
  try {
    checkFooter(footer.subarray(0, -endBytes));
    return parquetMetadata(bufferOf(footer), { parsers, geoparquet: false });
  } catch {
    throw notAnArchive(location, 'its footer is damaged');
  }
}

/** The key-value metadata; without what is not text. */
function textsOf({ key_value_metadata: pairs }: FileMetaData): Map<string, string> {
  const given: unknown[] = Array.isArray(pairs) ? pairs : [];
  return new Map(
    given.flatMap((pair) => {
      const { key, value = '' } = (pair ?? {}) as { key?: unknown; value?: unknown };
      return typeof key === 'string' && typeof value === 'string' ? [[key, value] as const] : [];
    }),
  );
}

/** With another schema, hyparquet can leave a rejected promise behind that nothing handles. */
function hasOurSchema({ schema }: FileMetaData): boolean {
  if (!Array.isArray(schema) || schema.length !== columnNames.length + 1) return false;
  return columnNames.every((name, i) => {
    const { type, type_length, repetition_type } = columns[name].element;
    const found = schema[i + 1];
    const isSame = found?.name === name && found.type === type && found.type_length === type_length;
    return isSame && found.repetition_type === repetition_type && found.num_children === undefined;
  });
}

const hasOurColumns = ({ columns: chunks }: RowGroup): boolean =>
  Array.isArray(chunks) &&
  chunks.length === columnNames.length &&
  columnNames.every((name, i) => {
    const path: unknown = chunks[i]?.meta_data?.path_in_schema;
    return Array.isArray(path) && path.length === 1 && path[0] === name;
  });

/** Throws if the footer has impossible values, before memory is reserved or bytes are read by them. */
function blockOf(group: RowGroup, index: number, { location, bytes }: ArchiveSource): ArchiveBlock {
  const impossible = () => notAnArchive(location, `its footer says impossible things about block ${index}`);
  if (!hasOurColumns(group)) throw impossible();
  const scans = Number(group.num_rows);
  const extent = extentOf(group);
  const [positions, times] = [limitsOf(group, 'position'), limitsOf(group, 'occurred_at')];
  const isPossible = Number.isSafeInteger(scans) && scans >= 0 && scans <= maxBlockScans;
  const isInFile = Number.isSafeInteger(extent.start) && extent.start >= 0 && extent.start <= extent.end;
  if (!isPossible || !isInFile || !(extent.end <= bytes) || !areLimits(positions) || !areLimits(times))
    throw impossible();
  const { min_value, max_value } = positions;
  return { index, scans, first: Number(min_value), last: Number(max_value), latestMicros: times.max_value };
}

const areLimits = (limits: Partial<Limits> | undefined): limits is Limits =>
  typeof limits?.min_value === 'bigint' && typeof limits.max_value === 'bigint';

/** The scans of a block, as lines in log order. One read of the source. */
export async function readBlock(archive: OpenArchive, index: number): Promise<string[]> {
  const { source, metadata } = archive;
  const { start, end } = extentOf(metadata.row_groups[index] as RowGroup);
  const bytes = await source.read(start, end);
  return decodeBlock(archive, index, bytes).catch((error) => {
    throw error instanceof ArchiveError ? error : notAnArchive(source.location, `its block ${index} is damaged`);
  });
}

async function decodeBlock(
  { source, metadata, blocks }: OpenArchive,
  index: number,
  bytes: Uint8Array,
): Promise<string[]> {
  const rowStart = blocks.slice(0, index).reduce((sum, { scans }) => sum + scans, 0);
  const group = metadata.row_groups[index] as RowGroup;
  const { start } = extentOf(group);
  checkBlock(group, bytes, start, decompress);
  const file: AsyncBuffer = {
    byteLength: source.bytes,
    slice: (from, to = source.bytes) => bufferOf(bytes.subarray(from - start, to - start)),
  };
  const rows = (blocks[index] as ArchiveBlock).scans;
  const values: Record<string, ArrayLike<unknown>> = {};
  const { parquetRead } = await reader();
  await parquetRead({
    file,
    metadata,
    parsers,
    rowStart,
    rowEnd: rowStart + rows,
    geoparquet: false,
    compressors: { ZSTD: decompress },
    onChunk: ({ columnName, columnData }) => {
      const before = values[columnName];
      values[columnName] = before === undefined ? columnData : [...Array.from(before), ...Array.from(columnData)];
    },
  });
  const fields = lineFields.map((name) => ({ write: columns[name].write, column: values[name] ?? [] }));
  if (fields.some(({ column }) => column.length !== rows)) throw new Error('a column is not complete');
  return Array.from({ length: rows }, (_, row) => fields.map(({ write, column }) => write(column[row])).join('\t'));
}

/** The bytes of a row group, which are contiguous. */
function extentOf(group: RowGroup): { start: number; end: number } {
  const chunks = group.columns.map(({ meta_data: chunk }) => {
    // NaN, which is no position in a file.
    const start = Number(chunk?.dictionary_page_offset ?? chunk?.data_page_offset);
    return { start, end: start + Number(chunk?.total_compressed_size) };
  });
  return {
    start: Math.min(...chunks.map(({ start }) => start)),
    end: Math.max(...chunks.map(({ end }) => end)),
  };
}

/** hyparquet takes whole array buffers. */
const bufferOf = (bytes: Uint8Array): ArrayBuffer =>
  bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
