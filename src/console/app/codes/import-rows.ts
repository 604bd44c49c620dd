import { faultOfDestination, faultOfName, faultOfShortCode } from '../../../../events/fields.ts';
import { parseTable } from './csv.ts';
import { completed } from './destination.ts';
import { cornersDotTypes, cornersSquareTypes, dotsTypes, isColor, type Style } from './style.ts';

/** A row of the list, as the code that it asks for. */
export interface ImportRow {
  line: number;
  name: string;
  destination_url: string;
  short_code: string;
  style: Style;
  faults: string[];
}

export const mostRows = 1_000;

const styleFields: Record<string, { field: keyof Style; fits(value: string): boolean; must: string }> = {};
const allow = (field: keyof Style, values: readonly string[] | 'color') => {
  styleFields[field.toLowerCase()] =
    values === 'color'
      ? { field, fits: isColor, must: 'be a color such as #1A2B3C' }
      : { field, fits: (value) => values.includes(value), must: `be one of ${values.join(', ')}` };
};
allow('dotsType', dotsTypes);
allow('cornersSquareType', cornersSquareTypes);
allow('cornersDotType', cornersDotTypes);
for (const field of ['dotsColor', 'backgroundColor', 'cornersSquareColor', 'cornersDotColor'] as const)
  allow(field, 'color');

const spellings: Record<string, 'name' | 'destination_url' | 'short_code'> = {
  name: 'name',
  title: 'name',
  destination_url: 'destination_url',
  destination: 'destination_url',
  url: 'destination_url',
  link: 'destination_url',
  short_code: 'short_code',
  slug: 'short_code',
};

const columnOf = (title: string) => title.toLowerCase().replace(/[\s-]+/g, '_');

/** Reads a pasted or dropped table. Titles above the columns are understood; without them: name, destination, short code. */
export function readRows(text: string, shortBaseUrl: string): { rows: ImportRow[]; fault?: string } {
  const table = parseTable(text);
  const titles = table[0]?.cells.map(columnOf) ?? [];
  const hasTitles = titles.some((title) => title in spellings || title.replaceAll('_', '') in styleFields);
  const columns = hasTitles ? titles : ['name', 'destination_url', 'short_code'];
  if (hasTitles) {
    const known = columns.map((title) => spellings[title]);
    const missing = (['name', 'destination_url'] as const).filter((field) => !known.includes(field));
    if (missing.length > 0) return { rows: [], fault: `There is no column ${missing.join(' and no column ')}.` };
  }
  const rows = table.slice(hasTitles ? 1 : 0).map(({ line, cells }) => readRow(line, cells, columns, shortBaseUrl));
  if (rows.length > mostRows)
    return { rows: [], fault: `${rows.length} rows are too many: at most ${mostRows} at once.` };
  noteRepeated(rows);
  return { rows };
}

function readRow(line: number, cells: string[], columns: string[], shortBaseUrl: string): ImportRow {
  const row: ImportRow = { line, name: '', destination_url: '', short_code: '', style: {}, faults: [] };
  for (const [i, value] of cells.entries()) {
    const title = columns[i] ?? '';
    const field = spellings[title];
    const ofStyle = styleFields[title.replaceAll('_', '')];
    if (field !== undefined) row[field] = value;
    else if (ofStyle !== undefined && value !== '') {
      if (ofStyle.fits(value)) Object.assign(row.style, { [ofStyle.field]: value });
      else row.faults.push(`${ofStyle.field} must ${ofStyle.must}`);
    }
  }
  row.destination_url = completed(row.destination_url);
  const add = (what: string, fault: string | undefined) => {
    if (fault !== undefined) row.faults.push(`${what} ${fault}`);
  };
  add('the name', faultOfName(row.name));
  add(
    'the destination',
    row.destination_url === '' ? 'is missing' : faultOfDestination(row.destination_url, shortBaseUrl),
  );
  if (row.short_code !== '') add('the short code', faultOfShortCode(row.short_code));
  return row;
}

function noteRepeated(rows: ImportRow[]): void {
  const seen = new Map<string, number>();
  for (const row of rows) {
    if (row.short_code === '') continue;
    const before = seen.get(row.short_code);
    if (before === undefined) seen.set(row.short_code, row.line);
    else row.faults.push(`the short code is the same as in line ${before}`);
  }
}
