import { problemWithName } from '../../../../events/fields.ts';
import { linkOf } from '../../../../events/link.ts';
import { problemWithShortCode } from '../../../../events/reserved-words.ts';
import { foldShortCode } from '../../../../events/short-code.ts';
import { number } from '../format.ts';
import { isWithin } from '../parts/field-errors.ts';
import { parseTable } from './csv.ts';
import { readDestination } from './destination.ts';
import { readStyleCells, type StyleColumn, styleColumnOf, styleColumns } from './import-style.ts';
import { readTargetingCells, type TargetingColumn, targetingColumns } from './import-targeting.ts';
import type { Style } from './style.ts';

export type ImportField = 'name' | 'destination_url' | 'short_code' | 'domain' | StyleColumn | TargetingColumn;

/** One row of a table: its cells by field, as typed. */
export interface TableRow {
  line: number;
  cells: Partial<Record<ImportField, string>>;
}

export interface RowError {
  /** Undefined if the error is not about a cell. */
  field: ImportField | undefined;
  message: string;
}

/** A row as the code to create, with its errors. */
export interface ImportRow extends TableRow {
  name: string;
  destination_url: string;
  short_code: string;
  /** Empty for links of the service itself. */
  domain: string;
  style: Style;
  /** Schedule, limit, fallback, tags and note, as a create takes them. */
  targeting: Record<string, unknown>;
  errors: RowError[];
  warning: string | undefined;
}

export interface Table {
  rows: TableRow[];
  /** Titles of columns that are ignored. */
  unusedColumns: string[];
  error?: string;
}

export const maxRows = 1_000;

/** Titles of columns, without case, spaces, "-" and "_": the names of the API, the labels of the console, and synonyms. */
const fieldOfTitle = new Map<string, ImportField>([
  ...(['name', 'title'] as const).map((title) => [title, 'name'] as const),
  ...(['destinationurl', 'destination', 'url', 'link', 'target'] as const).map(
    (title) => [title, 'destination_url'] as const,
  ),
  ...(['shortcode', 'shortlink', 'shorturl', 'slug'] as const).map((title) => [title, 'short_code'] as const),
  ['domain', 'domain'],
  ...styleColumns.map((column) => [column.toLowerCase(), column] as const),
  ...targetingColumns.map((column) => [column.replaceAll('_', ''), column] as const),
  ...([
    ['starts', 'starts_at'],
    ['ends', 'expires_at'],
    ['scanlimit', 'max_scans'],
    ['fallback', 'fallback_url'],
  ] as const),
  ...([
    ['dots', 'dotsType'],
    ['background', 'backgroundColor'],
    ['cornersquares', 'cornersSquareType'],
  ] as const),
  ...([
    ['cornersquarescolor', 'cornersSquareColor'],
    ['cornerdots', 'cornersDotType'],
  ] as const),
  ...([
    ['cornerdotscolor', 'cornersDotColor'],
    ['logoid', 'logo'],
    ['frametype', 'frame'],
    ['calltoaction', 'frameText'],
  ] as const),
]);

const fieldOf = (title: string) => fieldOfTitle.get(title.toLowerCase().replace(/[\s_-]+/g, ''));

/** Reads a pasted or dropped table. Without a header row, the columns are name, destination and short code. */
export function readTable(text: string): Table {
  const table = parseTable(text);
  const titles = table[0]?.cells ?? [];
  const hasHeader = titles.some((title) => fieldOf(title) !== undefined);
  const columns = hasHeader
    ? withoutRepeated(titles.map(fieldOf))
    : (['name', 'destination_url', 'short_code'] as const);
  const failed = (error: string): Table => ({ rows: [], unusedColumns: [], error });
  if (hasHeader) {
    const missing = (['name', 'destination_url'] as const).filter((field) => !columns.includes(field));
    if (missing.length > 0) return failed(`Missing column: ${missing.join(', ')}.`);
  }
  const rows = table.slice(hasHeader ? 1 : 0);
  if (rows.length > maxRows)
    return failed(`The table has ${number(rows.length)} rows. The limit is ${number(maxRows)}.`);
  const width = Math.max(0, ...rows.map(({ cells }) => cells.length));
  const unusedColumns = Array.from({ length: Math.max(width, titles.length) }, (_, i) => i)
    .filter((i) => columns[i] === undefined && table.some(({ cells }) => (cells[i] ?? '') !== ''))
    .map((i) => (hasHeader && titles[i] ? titles[i] : `column ${i + 1}`));
  return { rows: rows.map(({ line, cells }) => ({ line, cells: byField(cells, columns) })), unusedColumns };
}

const withoutRepeated = (fields: (ImportField | undefined)[]) =>
  fields.map((field, i) => (fields.indexOf(field) === i ? field : undefined));

const byField = (cells: string[], columns: readonly (ImportField | undefined)[]): TableRow['cells'] =>
  Object.fromEntries(
    cells.flatMap((cell, i) => {
      const field = columns[i];
      return field === undefined ? [] : [[field, cell]];
    }),
  );

/** Where the service is, and the time zone of times without an offset. */
export interface ImportContext {
  shortBaseUrl: string;
  /** Other URLs of the service, which no code may lead to. */
  ownUrls: string[];
  timeZone: string;
  /** The style of rows without style columns. */
  style?: Style;
}

/** Checks rows with the rules of the server, short codes that are used twice included. */
export function checkRows(rows: TableRow[], context: ImportContext): ImportRow[] {
  const checked = rows.map((row) => checkRow(row, context));
  const firstLines = new Map<string, number>();
  for (const { line, short_code, domain, errors } of checked) {
    if (short_code === '') continue;
    const link = foldShortCode(linkOf(domain, short_code));
    const firstLine = firstLines.get(link);
    if (firstLine === undefined) firstLines.set(link, line);
    else errors.push({ field: 'short_code', message: `the short code is already used in line ${firstLine}` });
  }
  return checked;
}

function checkRow(
  { line, cells }: TableRow,
  { shortBaseUrl, ownUrls, timeZone, style: base }: ImportContext,
): ImportRow {
  const errors: RowError[] = [];
  const addError = (field: ImportField, subject: string, problem: string | undefined) => {
    if (problem !== undefined) errors.push({ field, message: `${subject} ${problem}` });
  };
  const name = cells.name ?? '';
  addError('name', 'the name', problemWithName(name));
  const { url, error, warning } = readDestination(cells.destination_url ?? '', shortBaseUrl, ...ownUrls);
  if (error !== undefined) errors.push({ field: 'destination_url', message: asPart(error) });
  const short_code = withoutBase(cells.short_code ?? '', shortBaseUrl);
  if (short_code !== '') addError('short_code', 'the short code', problemWithShortCode(short_code));
  const domain = (cells.domain ?? '').trim().toLowerCase();
  const { style, errors: styleErrors } = readStyleCells(cells, base);
  errors.push(...styleErrors);
  const { fields: targeting, errors: targetingErrors } = readTargetingCells(
    cells,
    [shortBaseUrl, ...ownUrls],
    timeZone,
  );
  errors.push(...targetingErrors);
  return { line, cells, name, destination_url: url, short_code, domain, style, targeting, errors, warning };
}

/** The errors that the service found in rows, by line: `details` of a bulk creation name the index of a row and a field. */
export function refusedCells(
  rows: readonly TableRow[],
  details: readonly { index?: number; field: string; message: string }[],
): Map<number, RowError[]> {
  const refused = new Map<number, RowError[]>();
  for (const { index, field, message } of details) {
    const line = index === undefined ? undefined : rows[index]?.line;
    if (line === undefined) continue;
    const column = columnOf(field);
    // By the name of the column, which the user sees, in place of the field.
    const named = column !== undefined && message.startsWith(field) ? column + message.slice(field.length) : message;
    refused.set(line, [...(refused.get(line) ?? []), { field: column, message: asPart(named) }]);
  }
  return refused;
}

const otherColumns = ['name', 'destination_url', 'short_code', 'domain', ...targetingColumns] as const;

const columnOf = (field: string): ImportField | undefined =>
  otherColumns.find((column) => isWithin(field, column)) ?? styleColumnOf(field);

/** The console shows and copies short codes as short links. */
const withoutBase = (shortLink: string, shortBaseUrl: string): string => {
  const [link, base] = [shortLink, `${shortBaseUrl}/`].map((url) => url.replace(/^https?:\/\//i, '')) as [
    string,
    string,
  ];
  return link.toLowerCase().startsWith(base.toLowerCase()) ? link.slice(base.length).replace(/\/$/, '') : shortLink;
};

/** A sentence as one of several errors: without its period, and lower case unless it quotes something. */
const asPart = (sentence: string) =>
  sentence.replace(/\.$/, '').replace(/^[A-Z](?=[a-z]* )/, (letter) => letter.toLowerCase());
