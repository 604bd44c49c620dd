import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { constants, zstdCompressSync } from 'node:zlib';
import type { RowGroup } from 'hyparquet';
import type { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { lineFields } from '../../events/scan-line.ts';
import { steadyWrite } from '../lib/steady-write.ts';
import { columnNames, columns } from './columns.ts';

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

/** Loaded with the first file: with the reader it takes 9 MB, and most processes never read or write one. */
const writer = () => import('hyparquet-writer');

/** With a checksum, so that a damaged page is refused before its values are read. */
const compress = (bytes: Uint8Array) => zstdCompressSync(bytes, { params: { [constants.ZSTD_c_checksumFlag]: 1 } });

/** Pages are as large as a column of a row group: a reader decodes row groups as a whole. */
export const pageBytes = 16 * 1024 * 1024;

/** Writes an archive file block by block. Holds one block in memory. */
export class ArchiveWriter {
  readonly #handle: FileHandle;
  readonly #write: (bytes: Uint8Array) => Promise<void>;
  readonly #checksum = createHash('sha256');
  readonly #bytes: ByteWriter;
  readonly #parquet: ParquetWriter;
  #earliest: bigint | undefined;
  #latest: bigint | undefined;
  #scans = 0;

  /** For `create` only. */
  constructor(handle: FileHandle, library: Awaited<ReturnType<typeof writer>>) {
    this.#handle = handle;
    this.#write = steadyWrite(handle);
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
      from: range.from,
      to: range.to,
      scans: this.#scans,
      earliest: iso(this.#earliest),
      latest: iso(this.#latest),
      instance: range.instance,
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
    await this.#write(written);
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

export interface Limits {
  min_value: bigint;
  max_value: bigint;
}

/** The least and the greatest value of a column of integers in a row group. */
export const limitsOf = (group: RowGroup, name: (typeof columnNames)[number]) =>
  group.columns[columnNames.indexOf(name)]?.meta_data?.statistics as Limits;
