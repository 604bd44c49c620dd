import type { Mode } from './plans.ts';
import type { RecordedScan } from './scan.ts';

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
 * it is taken apart only where somebody asks.
 */
export class ScanLine implements RecordedScan {
  readonly type = 'code_scanned';
  readonly line: string;
  readonly position: number;
  #fields: string[] | undefined;

  constructor(line: string) {
    this.line = line;
    this.position = Number(line.slice(0, line.indexOf('\t')));
  }

  get code(): string {
    const start = this.line.indexOf('\t') + 1;
    return this.line.slice(start, this.line.indexOf('\t', start));
  }
  get is_unique(): boolean {
    const start = this.line.indexOf('\t', this.line.indexOf('\t') + 1) + 1;
    return this.line.charCodeAt(start) === 0x74;
  }
  get account(): string {
    return this.#field(3);
  }
  get mode(): Mode {
    return this.#field(4) as Mode;
  }
  get id(): string {
    return this.#field(5);
  }
  get occurred_at(): Date {
    return new Date(`${this.#field(6).replace(' ', 'T')}Z`);
  }
  get country(): string {
    return this.#field(7);
  }
  get region(): string {
    return unescaped(this.#field(8));
  }
  get city(): string {
    return unescaped(this.#field(9));
  }
  get device(): string {
    return this.#field(10);
  }
  get browser(): string {
    return this.#field(11);
  }
  get is_bot(): boolean {
    return this.#field(12) === 't';
  }
  get visitor(): string {
    return this.#field(13).replaceAll('-', '');
  }
  get revision(): number {
    return Number(this.#field(14));
  }

  toJSON(): RecordedScan {
    const fields = Object.fromEntries(lineFields.map((name) => [name, this[name]]));
    return { type: this.type, ...fields } as RecordedScan;
  }

  #field(index: number): string {
    this.#fields ??= this.line.split('\t');
    return this.#fields[index] ?? '';
  }
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
