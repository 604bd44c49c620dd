import type { Mode } from './plans.ts';
import type { RecordedScan } from './scan.ts';
import { refuseNewer } from './wire/newer-version.ts';

/**
 * The version of the layout below. A line does not carry it: what carries lines names it once for all of them. A change
 * of `lineFields` or `lineEscapes` is a new version, and `scanLines` then converts lines of the older ones.
 */
export const lineVersion = 1;

/** The fields of a line, in its order: those that most readers want come first. */
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
] as const satisfies (keyof RecordedScan)[];

// Names of places come from files of others.
export const lineEscapes: readonly (readonly [character: string, written: string])[] = [
  ['\\', '\\\\'],
  ['\t', '\\t'],
  ['\n', '\\n'],
  ['\r', '\\r'],
];
const meant: Record<string, string> = Object.fromEntries(
  lineEscapes.map(([character, written]) => [written, character]),
);
const unescaped = (text: string) =>
  text.includes('\\') ? text.replace(/\\[\\tnr]/g, (written) => meant[written] ?? written) : text;
const escaped = (text: string) =>
  lineEscapes.reduce((done, [character, written]) => done.replaceAll(character, written), text);

/**
 * A scan of the log as a line, with a tab between its fields: Postgres writes it, the stream carries it and ClickHouse
 * reads it, as it is. There are thousands a second, and few of those who pass them on look at more than two fields, so
 * a field is looked for when somebody asks.
 */
export class ScanLine implements RecordedScan {
  readonly type = 'code_scanned';
  readonly line: string;

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
    return fieldOf(this.line, 5);
  }
  get occurred_at(): Date {
    return new Date(`${fieldOf(this.line, 6).replace(' ', 'T')}Z`);
  }
  get country(): string {
    return fieldOf(this.line, 7);
  }
  get region(): string {
    return unescaped(fieldOf(this.line, 8));
  }
  get city(): string {
    return unescaped(fieldOf(this.line, 9));
  }
  get device(): string {
    return fieldOf(this.line, 10);
  }
  get browser(): string {
    return fieldOf(this.line, 11);
  }
  get is_bot(): boolean {
    return fieldOf(this.line, 12) === 't';
  }
  get visitor(): string {
    return fieldOf(this.line, 13).replaceAll('-', '');
  }
  get revision(): number {
    return Number(fieldOf(this.line, 14));
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

/** The scans of a text of lines; throws `NewerVersion` for lines of a layout that this process does not know. */
export function scanLines(version: number, text: string): ScanLine[] {
  refuseNewer('A scan line', version, lineVersion);
  return text.split('\n').map((line) => new ScanLine(line));
}

/** The line of a scan, as Postgres would write it. */
export function lineOf(scan: RecordedScan): string {
  const written = (value: RecordedScan[(typeof lineFields)[number]]) => {
    if (typeof value === 'boolean') return value ? 't' : 'f';
    if (value instanceof Date) return value.toISOString().slice(0, -1).replace('T', ' ');
    return escaped(String(value));
  };
  return lineFields.map((name) => written(scan[name])).join('\t');
}
