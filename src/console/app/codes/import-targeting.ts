import type { OptionalField } from '../../../../events/code-fields.ts';
import { readFields } from '../../../../events/read-fields.ts';
import { isWithin } from '../parts/field-errors.ts';
import { toIso } from '../rules/zoned-time.ts';
import { completeUrl } from './destination.ts';

/** Optional fields that an import has columns for. */
export type TargetingColumn = Exclude<OptionalField, 'rules' | 'forward_query' | 'utm'>;

export type TargetingCells = Partial<Record<TargetingColumn, string>>;

interface ReadCells {
  /** As a create takes them. */
  fields: Record<string, unknown>;
  errors: { field: TargetingColumn; message: string }[];
}

/** A date or a local time as a spreadsheet has it, in `timeZone`; anything else as typed. */
const timeOf = (text: string, timeZone: string): string => {
  const { day, clock = '00:00' } =
    /^(?<day>\d{4}-\d\d-\d\d)(?:[ T](?<clock>\d\d:\d\d)(?::00)?)?$/.exec(text)?.groups ?? {};
  return (day !== undefined && toIso(`${day}T${clock}`, timeZone)) || text;
};

const readers: Record<TargetingColumn, (text: string, timeZone: string) => unknown> = {
  starts_at: timeOf,
  expires_at: timeOf,
  max_scans: (text) => (/^\d+$/.test(text) ? Number(text) : text),
  fallback_url: (text) => completeUrl(text).url,
  tags: (text) =>
    text
      .split(';')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
  note: (text) => text,
};

export const targetingColumns = Object.keys(readers) as TargetingColumn[];

const subjects: Record<TargetingColumn, string> = {
  starts_at: 'the start',
  expires_at: 'the end',
  max_scans: 'the scan limit',
  fallback_url: 'the fallback',
  tags: 'each tag',
  note: 'the note',
};

/** The column of a problem, whose field can be a part of it: `tags[2]`. */
const columnOf = (field: string): TargetingColumn =>
  targetingColumns.find((column) => isWithin(field, column)) ?? 'tags';

/** Reads the cells of a row with the rules of the service; empty cells are left out. */
export function readTargetingCells(cells: TargetingCells, ownUrls: string[], timeZone: string): ReadCells {
  const fields = Object.fromEntries(
    targetingColumns.flatMap((column) => {
      const text = cells[column]?.trim() ?? '';
      return text === '' ? [] : [[column, readers[column](text, timeZone)]];
    }),
  );
  const { problems } = readFields(fields, ownUrls);
  const errors = problems.map(({ field, problem }) => ({
    field: columnOf(field),
    message: `${subjects[columnOf(field)]} ${problem.replace('starts_at', 'the start')}`,
  }));
  return { fields, errors };
}
