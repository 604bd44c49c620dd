import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { AsyncBuffer, FileMetaData, RowGroup } from 'hyparquet';
import type { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { lineFields } from '../../events/scan-line.ts';
import { refuseNewer } from '../../events/wire/newer-version.ts';
import { columnNames, columns, parsers } from './columns.ts';
import { ArchiveError } from './errors.ts';

/**
 * An archive file is a Parquet file that any reader of Parquet can open. It has the scans of a range of positions in log
 * order, with the columns of the table `scans` (columns.ts). A row group has the scans of one block of 65,536 positions, so
 * that a reader fetches only the blocks that it needs; blocks without scans have none. Pages are compressed with zstd. The
 * key-value metadata has the keys of `ArchiveAbout` and this version under `scanlog_archive`.
 *
 * | version | change |
 * |---|---|
 * | 1 | |
 */
export const archiveFormat = 1;

/** What a file says about itself. */
export interface ArchiveAbout {
  /** Positions that it covers, both inclusive. */
  from: number;
  to: number;
  scans: number;
  /** Times of the earliest and the latest scan, in ISO 8601 with microseconds; empty without scans. */
  earliest: string;
  latest: string;
  /** The service that wrote it. */
  instance: string;
}

/** Loaded with the first file: together they take 9 MB, and most processes never read or write one. */
const reader = () => import('hyparquet');
const writer = () => import('hyparquet-writer');

const compress = (bytes: Uint8Array) => zstdCompressSync(bytes);

/** Pages are as large as a column of a row group: a reader decodes row groups as a whole. */
const pageBytes = 16 * 1024 * 1024;

/** Writes an archive file block by block. Holds one block in memory. */
export class ArchiveWriter {
  readonly #handle: FileHandle;
  readonly #checksum = createHash('sha256');
  readonly #bytes: ByteWriter;
  readonly #parquet: ParquetWriter;
  #earliest: bigint | undefined;
  #latest: bigint | undefined;
  #scans = 0;

  private constructor(handle: FileHandle, library: Awaited<ReturnType<typeof writer>>) {
    this.#handle = handle;
    this.#bytes = new library.ByteWriter(1024 * 1024);
    this.#parquet = new library.ParquetWriter({
      writer: this.#bytes,
      schema: [
        { name: 'scans', num_children: columnNames.length },
        ...columnNames.map((name) => ({ name, ...columns[name].element })),
      ],
      codec: 'ZSTD',
      compressors: { ZSTD: compress },
    });
  }

  /** Creates the file, which only its owner may read. */
  static async create(path: string): Promise<ArchiveWriter> {
    const library = await writer();
    return new ArchiveWriter(await open(path, 'w', 0o600), library);
  }

  /** Adds the scans of one block, as lines in log order. */
  async add(lines: string[]): Promise<void> {
    if (lines.length === 0) return;
    await this.#parquet.write({ columnData: columnsOf(lines), rowGroupSize: lines.length, pageSize: pageBytes });
    await this.#flush();
    const group = this.#parquet.row_groups.at(-1) as RowGroup;
    copyLimits(group);
    this.#addTimes(limitsOf(group, 'occurred_at'));
    this.#scans += lines.length;
  }

  /** Completes the file and syncs it to disk. */
  async finish(range: Pick<ArchiveAbout, 'from' | 'to' | 'instance'>): Promise<WrittenArchive> {
    const iso = (time: bigint | undefined) =>
      time === undefined ? '' : `${columns.occurred_at.write(time).replace(' ', 'T')}Z`;
    const about: ArchiveAbout = {
      ...{ from: range.from, to: range.to, scans: this.#scans },
      ...{ earliest: iso(this.#earliest), latest: iso(this.#latest), instance: range.instance },
    };
    this.#parquet.kvMetadata = Object.entries({ scanlog_archive: archiveFormat, ...about }).map(([key, value]) => ({
      key,
      value: String(value),
    }));
    await this.#parquet.finish();
    await this.#flush();
    await this.#handle.sync();
    return { about, bytes: this.#bytes.offset, sha256: this.#checksum.digest('hex') };
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  #addTimes({ min_value, max_value }: Limits): void {
    if (this.#earliest === undefined || min_value < this.#earliest) this.#earliest = min_value;
    if (this.#latest === undefined || max_value > this.#latest) this.#latest = max_value;
  }

  async #flush(): Promise<void> {
    const written = this.#bytes.getBytes();
    this.#checksum.update(written);
    await this.#handle.writeFile(written);
    this.#bytes.index = 0;
  }
}

/**
 * Columns of values from lines. A column is made when it is written: all of a block together took most of the memory, and as
 * long as they lived, so did the garbage of those before.
 */
function columnsOf(lines: string[]) {
  const starts = startsOf(lines);
  return columnNames.map((name) => {
    const { encoding, read } = columns[name];
    const field = lineFields.indexOf(name);
    return {
      name,
      get data() {
        return lines.map((line, row) => {
          const start = starts[row * lineFields.length + field];
          const tab = line.indexOf('\t', start);
          return read(line.slice(start, tab === -1 ? undefined : tab));
        });
      },
      ...(encoding === undefined ? {} : { encoding }),
    };
  });
}

/** Where the fields of each line start. */
function startsOf(lines: string[]): Uint32Array {
  const starts = new Uint32Array(lines.length * lineFields.length);
  let index = 0;
  for (const line of lines) {
    let start = 0;
    for (let field = 0; field < lineFields.length; field++) {
      starts[index++] = start;
      start = line.indexOf('\t', start) + 1;
    }
  }
  return starts;
}

/**
 * The writer keeps the least and the greatest value of each column until the file is complete. As parts of the text that
 * Postgres sent, they would keep all of it in memory: 12 MB for each block.
 */
function copyLimits(group: RowGroup): void {
  for (const { meta_data } of group.columns) {
    const limits = meta_data?.statistics;
    for (const limit of ['min_value', 'max_value'] as const) {
      const value = limits?.[limit];
      if (limits !== undefined && typeof value === 'string') limits[limit] = Buffer.from(value).toString();
    }
  }
}

export interface WrittenArchive {
  about: ArchiveAbout;
  bytes: number;
  sha256: string;
}

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
  const file: AsyncBuffer = {
    byteLength: source.bytes,
    slice: async (start, end = source.bytes) => bufferOf(await source.read(start, end)),
  };
  const { parquetMetadataAsync } = await reader();
  const metadata = await parquetMetadataAsync(file, { parsers, geoparquet: false }).catch((error) => {
    throw error instanceof ArchiveError ? error : notAnArchive(source.location, 'its footer is damaged');
  });
  const values = new Map(metadata.key_value_metadata?.map(({ key, value = '' }) => [key, value]));
  const version = Number(values.get('scanlog_archive'));
  if (!Number.isInteger(version)) throw notAnArchive(source.location, 'its metadata lacks scanlog_archive');
  refuseNewer(`The archive file ${source.location}`, version, archiveFormat);
  const text = (key: keyof ArchiveAbout) => values.get(key) ?? '';
  const about: ArchiveAbout = {
    ...{ from: Number(text('from')), to: Number(text('to')), scans: Number(text('scans')) },
    ...{ earliest: text('earliest'), latest: text('latest'), instance: text('instance') },
  };
  return { source, about, blocks: metadata.row_groups.map(blockOf), metadata };
}

function blockOf(group: RowGroup, index: number): ArchiveBlock {
  const { min_value, max_value } = limitsOf(group, 'position');
  return {
    ...{ index, scans: Number(group.num_rows), first: Number(min_value), last: Number(max_value) },
    latestMicros: limitsOf(group, 'occurred_at').max_value,
  };
}

interface Limits {
  min_value: bigint;
  max_value: bigint;
}

/** The least and the greatest value of a column of integers in a row group. */
const limitsOf = (group: RowGroup, name: (typeof columnNames)[number]) =>
  group.columns[columnNames.indexOf(name)]?.meta_data?.statistics as Limits;

/** The scans of a block, as lines in log order. One read of the source. */
export async function readBlock({ source, metadata, blocks }: OpenArchive, index: number): Promise<string[]> {
  const group = metadata.row_groups[index] as RowGroup;
  const rowStart = blocks.slice(0, index).reduce((sum, { scans }) => sum + scans, 0);
  const { start, end } = extentOf(group);
  const bytes = await source.read(start, end);
  const file: AsyncBuffer = {
    byteLength: source.bytes,
    slice: (from, to = source.bytes) => bufferOf(bytes.subarray(from - start, to - start)),
  };
  const rows = Number(group.num_rows);
  const values: Record<string, ArrayLike<unknown>> = {};
  const { parquetRead } = await reader();
  await parquetRead({
    ...{ file, metadata, parsers, rowStart, rowEnd: rowStart + rows, geoparquet: false },
    compressors: { ZSTD: (input: Uint8Array) => zstdDecompressSync(input) },
    onChunk: ({ columnName, columnData }) => {
      const before = values[columnName];
      values[columnName] = before === undefined ? columnData : [...Array.from(before), ...Array.from(columnData)];
    },
  }).catch((error) => {
    throw error instanceof ArchiveError ? error : notAnArchive(source.location, `its block ${index} is damaged`);
  });
  const fields = lineFields.map((name) => ({ write: columns[name].write, column: values[name] as ArrayLike<unknown> }));
  return Array.from({ length: rows }, (_, row) => fields.map(({ write, column }) => write(column[row])).join('\t'));
}

/** The bytes of a row group, which are contiguous. */
function extentOf(group: RowGroup): { start: number; end: number } {
  const chunks = group.columns.map(({ meta_data: chunk }) => {
    if (chunk === undefined) throw new Error('a column of the row group has no metadata');
    const start = Number(chunk.dictionary_page_offset ?? chunk.data_page_offset);
    return { start, end: start + Number(chunk.total_compressed_size) };
  });
  return {
    start: Math.min(...chunks.map(({ start }) => start)),
    end: Math.max(...chunks.map(({ end }) => end)),
  };
}

/** hyparquet takes whole array buffers. */
const bufferOf = (bytes: Uint8Array): ArrayBuffer =>
  bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
