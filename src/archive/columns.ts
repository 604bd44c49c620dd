import type { SchemaElement } from 'hyparquet';
import type { ColumnSource } from 'hyparquet-writer';
import { escaped, type lineFields, unescaped } from '../../events/scan-line.ts';

type Field = (typeof lineFields)[number];

/** How one field of a scan line is stored as a Parquet column. */
interface Column {
  element: Omit<SchemaElement, 'name'>;
  encoding?: NonNullable<ColumnSource['encoding']>;
  /** From the text of the field in a scan line. */
  read(text: string): unknown;
  /** Back to exactly that text. */
  write(value: unknown): string;
}

const required = { repetition_type: 'REQUIRED' } as const;
const utf8 = { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } } as const;

const text: Column = {
  element: { ...utf8, ...required },
  read: (field) => field,
  write: (value) => value as string,
};
/** Text from third-party databases, which can have any character and is escaped in a line. */
const anyText: Column = { ...text, read: unescaped, write: (value) => escaped(value as string) };
/** Text that is NULL in the log where the field of the line is empty. */
const optionalText: Column = {
  element: { ...utf8, repetition_type: 'OPTIONAL' },
  read: (field) => (field === '' ? undefined : field),
  write: (value) => (value ?? '') as string,
};
const flag: Column = {
  element: { type: 'BOOLEAN', ...required },
  read: (field) => field === 't',
  write: (value) => (value === true ? 't' : 'f'),
};

/** Microseconds since 1970, which is the precision of Postgres. */
function microsOf(field: string): bigint {
  const seconds = Date.parse(`${field.slice(0, 10)}T${field.slice(11, 19)}Z`);
  return BigInt(seconds) * 1000n + BigInt(field.slice(20).padEnd(6, '0'));
}

/** As Postgres prints a timestamp: a fraction without trailing zeros, or none. */
function timeText(micros: bigint): string {
  const ms = Number(micros / 1000n);
  const iso = new Date(ms).toISOString();
  const fraction = (iso.slice(20, 23) + String(micros % 1000n).padStart(3, '0')).replace(/0+$/, '');
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)}${fraction === '' ? '' : `.${fraction}`}`;
}

const uuidBytes = (field: string) => Buffer.from(field.replaceAll('-', ''), 'hex');
function uuidText(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Every column of the table `scans`, in its order. Changing it needs a new version of the format. */
export const columns: Record<Field, Column> = {
  position: {
    element: { type: 'INT64', ...required },
    encoding: 'DELTA_BINARY_PACKED',
    read: BigInt,
    write: String,
  },
  // Random, so a dictionary would only cost time.
  id: { ...text, encoding: 'PLAIN' },
  code: text,
  account: text,
  mode: text,
  occurred_at: {
    element: {
      type: 'INT64',
      converted_type: 'TIMESTAMP_MICROS',
      logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
      ...required,
    },
    encoding: 'DELTA_BINARY_PACKED',
    read: microsOf,
    write: (value) => timeText(value as bigint),
  },
  country: text,
  region: anyText,
  city: anyText,
  device: text,
  browser: text,
  is_bot: flag,
  visitor: {
    element: { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16, logical_type: { type: 'UUID' }, ...required },
    encoding: 'PLAIN',
    read: uuidBytes,
    write: (value) => uuidText(value as Uint8Array),
  },
  is_unique: flag,
  revision: { element: { type: 'INT32', ...required }, read: Number, write: String },
  rule: optionalText,
  variant: optionalText,
};

export const columnNames = Object.keys(columns) as Field[];

/** hyparquet's values, as `columns` reads and writes them. */
export const parsers = {
  timestampFromMicroseconds: (micros: bigint) => micros,
  uuidFromBytes: (bytes: Uint8Array) => bytes,
};
