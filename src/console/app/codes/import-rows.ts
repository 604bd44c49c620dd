import { problemWithDestination, problemWithName } from '../../../../events/fields.ts';
import { problemWithShortCode } from '../../../lib/short-code.ts';
import { number } from '../format.ts';
import { parseTable } from './csv.ts';
import { withScheme } from './destination.ts';
import { cornersDotTypes, cornersSquareTypes, dotsTypes, isColor, type Style } from './style.ts';

/** One row of the import, as the code to create and its validation errors. */
export interface ImportRow {
  line: number;
  name: string;
  destination_url: string;
  short_code: string;
  style: Style;
  errors: string[];
}

export const maxRows = 1_000;

const styleFields: Record<string, { field: keyof Style; isValid(value: string): boolean; rule: string }> = {};
const allowStyleField = (field: keyof Style, values: readonly string[] | 'color') => {
  styleFields[field.toLowerCase()] =
    values === 'color'
      ? { field, isValid: isColor, rule: 'must be a color such as #1A2B3C' }
      : { field, isValid: (value) => values.includes(value), rule: `must be one of ${values.join(', ')}` };
};
allowStyleField('dotsType', dotsTypes);
allowStyleField('cornersSquareType', cornersSquareTypes);
allowStyleField('cornersDotType', cornersDotTypes);
for (const field of ['dotsColor', 'backgroundColor', 'cornersSquareColor', 'cornersDotColor'] as const)
  allowStyleField(field, 'color');

const columnNames: Record<string, 'name' | 'destination_url' | 'short_code'> = {
  name: 'name',
  title: 'name',
  destination_url: 'destination_url',
  destination: 'destination_url',
  url: 'destination_url',
  link: 'destination_url',
  short_code: 'short_code',
  slug: 'short_code',
};

const normalizeTitle = (title: string) => title.toLowerCase().replace(/[\s-]+/g, '_');

/** Reads a pasted or dropped table. Without a header row, the columns are name, destination and short code. */
export function readRows(text: string, shortBaseUrl: string): { rows: ImportRow[]; error?: string } {
  const table = parseTable(text);
  const titles = table[0]?.cells.map(normalizeTitle) ?? [];
  const hasHeader = titles.some((title) => title in columnNames || title.replaceAll('_', '') in styleFields);
  const columns = hasHeader ? titles : ['name', 'destination_url', 'short_code'];
  if (hasHeader) {
    const known = columns.map((title) => columnNames[title]);
    const missing = (['name', 'destination_url'] as const).filter((field) => !known.includes(field));
    if (missing.length > 0) return { rows: [], error: `Missing column: ${missing.join(', ')}.` };
  }
  const rows = table.slice(hasHeader ? 1 : 0).map(({ line, cells }) => readRow(line, cells, columns, shortBaseUrl));
  if (rows.length > maxRows)
    return { rows: [], error: `The table has ${number(rows.length)} rows. The limit is ${number(maxRows)}.` };
  markDuplicates(rows);
  return { rows };
}

function readRow(line: number, cells: string[], columns: string[], shortBaseUrl: string): ImportRow {
  const row: ImportRow = { line, name: '', destination_url: '', short_code: '', style: {}, errors: [] };
  for (const [i, value] of cells.entries()) {
    const title = columns[i] ?? '';
    const field = columnNames[title];
    const styleField = styleFields[title.replaceAll('_', '')];
    if (field !== undefined) row[field] = value;
    else if (styleField !== undefined && value !== '') {
      if (styleField.isValid(value)) Object.assign(row.style, { [styleField.field]: value });
      else row.errors.push(`${styleField.field} ${styleField.rule}`);
    }
  }
  row.destination_url = withScheme(row.destination_url);
  const addError = (subject: string, error: string | undefined) => {
    if (error !== undefined) row.errors.push(`${subject} ${error}`);
  };
  addError('the name', problemWithName(row.name));
  addError(
    'the destination',
    row.destination_url === '' ? 'is missing' : problemWithDestination(row.destination_url, shortBaseUrl),
  );
  if (row.short_code !== '') addError('the short code', problemWithShortCode(row.short_code));
  return row;
}

function markDuplicates(rows: ImportRow[]): void {
  const firstLines = new Map<string, number>();
  for (const row of rows) {
    if (row.short_code === '') continue;
    const firstLine = firstLines.get(row.short_code);
    if (firstLine === undefined) firstLines.set(row.short_code, row.line);
    else row.errors.push(`the short code is already used in line ${firstLine}`);
  }
}
