import { erasedSchema, schemaOf, upcast } from '../catalogue.ts';
import type { Change, LogEntry, LogRange } from '../entry.ts';
import type { RecordedScan } from '../scan.ts';
import { lineOf, lineVersion, ScanLine, scanLines } from '../scan-line.ts';
import { refuseNewer } from './newer-version.ts';

/**
 * A message of the stream: a range of the log whose entries are all scans or all changes.
 *
 * | version | scans | changes |
 * |---|---|---|
 * | 0 | `{"after":1,"to":3,"entries":[…]}`, each scan an object | the same, without schema numbers |
 * | 1 | `{"after":1,"to":3}` and one scan line per line | as in 0 |
 * | 2 | `{"version":2,"after":1,"to":3,"line":1}` and one scan line per line | `{"version":2,"after":1,"to":3,"entries":[…]}`, each change with its schema number |
 *
 * Every version from 2 on must begin with `version`, `after` and `to`, so that a relay of any version can find the end
 * of the stream.
 */
const messageVersion = 2;

/** Versions 0 and 1 have no version number. Version 0 has no line break, so both can be read as version 1. */
const implicitVersion = 1;

type Range = Pick<LogRange, 'after' | 'to'>;

const headOf = ({ after, to }: Range) => `{"version":${messageVersion},"after":${after},"to":${to}`;

export const encodeScans = (range: Range, lines: string[]): string =>
  `${headOf(range)},"line":${lineVersion}}\n${lines.join('\n')}`;

/** `changes` are results of `encodeChange`. */
export const encodeChanges = (range: Range, changes: string[]): string =>
  `${headOf(range)},"entries":[${changes.join(',')}]}`;

/** An erased event is encoded as it is stored: its original type, no data, and `erasedSchema`. */
export const encodeChange = (change: Change): string =>
  change.type === 'erased'
    ? JSON.stringify({ ...change, type: change.data.type, data: {}, schema: erasedSchema })
    : JSON.stringify({ ...change, schema: schemaOf(change) });

const decoder = new TextDecoder();
const head = /^\{(?:"version":(\d+),)?"after":(\d+),"to":(\d+)/;
/** Longer than any head: the two positions have at most 16 digits each. */
const maxHeadBytes = 128;

/** The version and range of a message, even if its entries are newer than this process. */
export function rangeOf(data: Uint8Array): Range & { version: number } {
  const found = head.exec(decoder.decode(data.subarray(0, maxHeadBytes)));
  if (found === null) throw new Error('A message of the stream does not begin with its range of log positions');
  const [, version = implicitVersion, after, to] = found;
  return { version: Number(version), after: Number(after), to: Number(to) };
}

/** Throws `NewerVersion` if the message, its lines or one of its events is newer than this process. */
export function decodeMessage(data: Uint8Array): LogRange {
  const { version, after, to } = rangeOf(data);
  refuseNewer('A message of the stream', version, messageVersion);
  const text = decoder.decode(data);
  const end = text.indexOf('\n');
  if (end !== -1) {
    const { line = 1 }: { line?: number } = JSON.parse(text.slice(0, end));
    return { after, to, entries: scanLines(line, text.slice(end + 1)) };
  }
  const { entries }: { entries: EncodedEntry[] } = JSON.parse(text);
  return { after, to, entries: entries.map(entryOf) };
}

/** An entry as parsed from JSON. */
type EncodedEntry = (Change | RecordedScan) & { schema?: number };

function entryOf(encoded: EncodedEntry): LogEntry {
  const occurred_at = new Date(encoded.occurred_at);
  // Only version 0 has scans here.
  if (encoded.type === 'code_scanned') return new ScanLine(lineOf({ ...encoded, occurred_at }));
  const { type, data, schema = implicitSchema(type), ...envelope } = encoded;
  return { ...upcast(type, schema, data), ...envelope, occurred_at };
}

/** The schema numbers at the time of versions 0 and 1, whose events do not carry one. */
const implicitSchema = (type: string) => (type === 'code_created' ? 2 : 1);
