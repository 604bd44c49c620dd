import type { RowGroup } from 'hyparquet';
import { columnNames, columns } from './columns.ts';

/**
 * hyparquet believes every number in a file: a damaged one makes it repeat a value billions of times, in the process that
 * redirects. So numbers that it counts by are checked before it reads a file.
 */

/** Of a damaged file; the reader of the file says which one. */
class Damaged extends Error {}

/** How deep the structures of a footer and of a page header are at most, with some room. */
const maxDepth = 12;
const maxVarintBytes = 10;

/** A structure of Thrift's compact protocol: its numbers and structures by field. */
type Struct = Map<number, number | Struct>;

/** Types of the compact protocol that Parquet uses. */
const type = { true: 1, false: 2, byte: 3, i16: 4, i32: 5, i64: 6, double: 7, binary: 8, list: 9, struct: 12 };

class CompactReader {
  readonly #bytes: Uint8Array;
  offset = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get left(): number {
    return this.#bytes.length - this.offset;
  }

  byte(): number {
    const byte = this.#bytes[this.offset++];
    if (byte === undefined) throw new Damaged('it ends too early');
    return byte;
  }

  varint(): number {
    let value = 0;
    for (let i = 0; i < maxVarintBytes; i++) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** (7 * i);
      if (byte < 0x80) return value;
    }
    throw new Damaged('a number is too long');
  }

  skip(length: number): void {
    if (length > this.left) throw new Damaged('it ends too early');
    this.offset += length;
  }

  struct(depth = 0): Struct {
    const fields: Struct = new Map();
    if (depth > maxDepth) throw new Damaged('its structure is too deep');
    let id = 0;
    for (;;) {
      const head = this.byte();
      if ((head & 15) === 0) return fields;
      id = head >> 4 === 0 ? this.#signed() : id + (head >> 4);
      const value = this.#value(head & 15, depth);
      if (value !== undefined) fields.set(id, value);
    }
  }

  #signed(): number {
    const value = this.varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  #value(kind: number, depth: number): number | Struct | undefined {
    switch (kind) {
      case type.true:
      case type.false:
        return kind === type.true ? 1 : 0;
      case type.byte:
        return this.byte();
      case type.i16:
      case type.i32:
      case type.i64:
        return this.#signed();
      case type.double:
        return void this.skip(8);
      case type.binary:
        return void this.skip(this.varint());
      case type.list:
        return void this.#list(depth);
      case type.struct:
        return this.struct(depth + 1);
      default:
        throw new Damaged(`it has a value of type ${kind}`);
    }
  }

  #list(depth: number): void {
    const head = this.byte();
    const size = head >> 4 === 15 ? this.varint() : head >> 4;
    if (size > this.left) throw new Damaged('a list is longer than the file');
    const kind = head & 15;
    for (let i = 0; i < size; i++) this.#value(kind === type.true || kind === type.false ? type.byte : kind, depth);
  }
}

/** Throws if the footer of a file has lists that cannot be in it. */
export function checkFooter(bytes: Uint8Array): void {
  new CompactReader(bytes).struct();
}

/** Fields of a page header, and of the headers in it. */
const page = { type: 1, uncompressed: 2, compressed: 3, dictionary: 7, data: 8 };
const data = { values: 1, nulls: 2, encoding: 4, definitionBytes: 5, repetitionBytes: 6, isCompressed: 7 };
const pageType = { dictionary: 2, data: 3 };
const encodings = { plain: 0, plainDictionary: 2, rle: 3, delta: 5, rleDictionary: 8 };

/** Decompresses a page to the size that its header gives. */
type Decompress = (bytes: Uint8Array, size: number) => Uint8Array;

/** Throws if a page of a block, whose bytes begin at `start` of the file, has more values than the block. */
export function checkBlock(group: RowGroup, bytes: Uint8Array, start: number, decompress: Decompress): void {
  const rows = Number(group.num_rows);
  group.columns.forEach(({ meta_data: chunk }, i) => {
    const from = Number(chunk?.dictionary_page_offset ?? chunk?.data_page_offset) - start;
    const length = Number(chunk?.total_compressed_size);
    const name = columnNames[i] as (typeof columnNames)[number];
    const isOptional = columns[name].element.repetition_type === 'OPTIONAL';
    checkColumn(bytes.subarray(from, from + length), { rows, isOptional, decompress });
  });
}

interface CheckedColumn {
  rows: number;
  isOptional: boolean;
  decompress: Decompress;
}

function checkColumn(bytes: Uint8Array, column: CheckedColumn): void {
  const reader = new CompactReader(bytes);
  for (let values = 0; values < column.rows && reader.left > 0; ) {
    const header = reader.struct();
    const compressed = count(header, page.compressed);
    const content = bytes.subarray(reader.offset, reader.offset + compressed);
    reader.skip(compressed);
    const uncompressed = count(header, page.uncompressed);
    const dictionary = header.get(page.dictionary);
    const inner = header.get(page.data);
    if (count(header, page.type) === pageType.dictionary && dictionary instanceof Map) {
      if (count(dictionary, data.values) > Math.max(column.rows, uncompressed))
        throw new Damaged('a dictionary is too long');
    } else if (count(header, page.type) === pageType.data && inner instanceof Map) {
      checkDataPage(inner, content, uncompressed, column);
      values += count(inner, data.values);
    } else throw new Damaged('a page has another type');
  }
}

function checkDataPage(header: Struct, content: Uint8Array, uncompressed: number, column: CheckedColumn): void {
  const values = count(header, data.values);
  const nulls = count(header, data.nulls);
  if (values === 0 || values > column.rows || nulls > values) throw new Damaged('a page has too many values');
  const levels = count(header, data.definitionBytes);
  if (count(header, data.repetitionBytes) !== 0 || levels > content.length)
    throw new Damaged('a page has too many levels');
  if (column.isOptional) checkRuns(content.subarray(0, levels), 1, values);
  const encoding = count(header, data.encoding);
  if (encoding === encodings.plain) return;
  const packed = content.subarray(levels);
  const bytes = header.get(data.isCompressed) === 0 ? packed : column.decompress(packed, uncompressed - levels);
  switch (encoding) {
    case encodings.plainDictionary:
    case encodings.rleDictionary:
      checkRuns(bytes.subarray(1), bytes[0] ?? 0, values - nulls);
      break;
    case encodings.rle:
      // After their length.
      checkRuns(bytes.subarray(4), 1, values - nulls);
      break;
    case encodings.delta:
      checkDeltas(bytes);
      break;
    default:
      throw new Damaged('a page has another encoding');
  }
}

/** Throws unless the runs of a hybrid of run lengths and packed bits are complete and have `values` values. */
function checkRuns(bytes: Uint8Array, width: number, values: number): void {
  const reader = new CompactReader(bytes);
  for (let seen = 0; seen < values; ) {
    const header = reader.varint();
    const run = header % 2 === 1 ? ((header - 1) / 2) * 8 : header / 2;
    // Packed values come in eights.
    if (run === 0 || run > values - seen + 7) throw new Damaged('a run has too many values');
    reader.offset += header % 2 === 1 ? (run / 8) * width : Math.ceil(width / 8);
    seen += run;
  }
}

const maxDeltaBlock = 65_536;

/** Throws if the blocks of deltas have an impossible size. */
function checkDeltas(bytes: Uint8Array): void {
  const reader = new CompactReader(bytes);
  const [size, parts] = [reader.varint(), reader.varint()];
  if (size === 0 || size > maxDeltaBlock || parts === 0 || size % parts !== 0)
    throw new Damaged('a page has odd blocks');
}

/** A number of a header that is a count. */
function count(header: Struct, field: number): number {
  const value = header.get(field) ?? 0;
  if (typeof value !== 'number' || value < 0 || !Number.isSafeInteger(value))
    throw new Damaged('a count is impossible');
  return value;
}
