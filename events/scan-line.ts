import type { Mode } from './plans.ts';
import type { RecordedScan } from './scan.ts';
import { refuseNewer } from './wire/newer-version.ts';

/**
 * The version of the layout below. The container of lines stores it once for all lines. Changing `lineFields` or
 * `lineEscapes` needs a new version, and `scanLines` must then convert older lines.
 *
 * | version | change |
 * |---|---|
 * | 1 | up to `revision` |
 * | 2 | `rule` and `variant`, empty if there is none |
 */
export const lineVersion = 2;

/** The fields of a line in order; those that most readers need come first. */
export const lineFields = [
  'position',
  'code',
  'is_unique',
  'account',
  'mode',
  'id',
  'occurred_at',
  'country',
  'region',
  'city',
  'device',
  'browser',
  'is_bot',
  'visitor',
  'revision',
  'rule',
  'variant',
] as const satisfies (keyof RecordedScan)[];

// Regions and cities come from third-party databases and can contain any character.
export const lineEscapes: readonly (readonly [character: string, escape: string])[] = [
  ['\\', '\\\\'],
  ['\t', '\\t'],
  ['\n', '\\n'],
  ['\r', '\\r'],
];
const characterOf: Record<string, string> = Object.fromEntries(
  lineEscapes.map(([character, sequence]) => [sequence, character]),
);
export const unescaped = (text: string) =>
  text.includes('\\') ? text.replace(/\\[\\tnr]/g, (sequence) => characterOf[sequence] ?? sequence) : text;
export const escaped = (text: string) =>
  lineEscapes.reduce((result, [character, sequence]) => result.replaceAll(character, sequence), text);

/**
 * A scan of the log as a line of tab-separated fields. Postgres writes it, and the stream and ClickHouse take it
 * unchanged. Most readers use one or two of the first fields of thousands of lines a second, so these are searched on access; a
 * reader of a later one is likely to need more of them, so the line is then split once.
 */
export class ScanLine implements RecordedScan {
  readonly type = 'code_scanned';
  readonly line: string;
  #fields: string[] | undefined;
  #occurredAt: Date | undefined;

  constructor(line: string) {
    this.line = line;
  }

  get position(): number {
    return Number(fieldOf(this.line, 0));
  }
  get code(): string {
    return fieldOf(this.line, 1);
  }
  get is_unique(): boolean {
    return fieldOf(this.line, 2) === 't';
  }
  get account(): string {
    return fieldOf(this.line, 3);
  }
  get mode(): Mode {
    return fieldOf(this.line, 4) as Mode;
  }
  get id(): string {
    return this.#at(5);
  }
  get occurred_at(): Date {
    this.#occurredAt ??= new Date(`${this.#at(6).replace(' ', 'T')}Z`);
    return this.#occurredAt;
  }
  get country(): string {
    return this.#at(7);
  }
  get region(): string {
    return unescaped(this.#at(8));
  }
  get city(): string {
    return unescaped(this.#at(9));
  }
  get device(): string {
    return this.#at(10);
  }
  get browser(): string {
    return this.#at(11);
  }
  get is_bot(): boolean {
    return this.#at(12) === 't';
  }
  get visitor(): string {
    return this.#at(13).replaceAll('-', '');
  }
  get revision(): number {
    return Number(this.#at(14));
  }

  get rule(): string | undefined {
    return this.#at(15) || undefined;
  }
  get variant(): string | undefined {
    return this.#at(16) || undefined;
  }

  #at(index: number): string {
    this.#fields ??= this.line.split('\t');
    const field = this.#fields[index];
    if (field === undefined) throw tooShort(index);
    return field;
  }

  toJSON(): RecordedScan {
    const fields = Object.fromEntries(lineFields.map((name) => [name, this[name]]));
    return { type: this.type, ...fields } as RecordedScan;
  }
}

const tooShort = (index: number) => new Error(`A scan line ends before its field "${lineFields[index]}"`);

function fieldOf(line: string, index: number): string {
  let start = 0;
  for (let i = 0; i < index; i++) {
    const tab = line.indexOf('\t', start);
    if (tab === -1) throw tooShort(index);
    start = tab + 1;
  }
  const end = line.indexOf('\t', start);
  return end === -1 ? line.slice(start) : line.slice(start, end);
}

/** Splits a text into scans; throws `NewerVersion` if the layout is newer than this process. */
export function scanLines(version: number, text: string): ScanLine[] {
  refuseNewer('A scan line', version, lineVersion);
  return text.split('\n').map((line) => new ScanLine(version === 1 ? `${line}\t\t` : line));
}

/** Formats a scan exactly as Postgres does. */
export function lineOf(scan: RecordedScan): string {
  const format = (value: RecordedScan[(typeof lineFields)[number]]) => {
    if (typeof value === 'boolean') return value ? 't' : 'f';
    if (value instanceof Date) return value.toISOString().slice(0, -1).replace('T', ' ');
    return value === undefined ? '' : escaped(String(value));
  };
  return lineFields.map((name) => format(scan[name])).join('\t');
}
