import { lineFields, unescaped } from '../../events/scan-line.ts';
import { linesOf, sourceOf } from '../archive/check.ts';
import { type ArchiveFile, filesOf } from '../log/archives.ts';
import { type BackupRows, rowLines } from './backup-file.ts';

/** The scans of archive files in log order, as rows of the table `scans`. */
export async function* archivedRows(files: ArchiveFile[], columns: string[]): AsyncGenerator<BackupRows> {
  for (const { location, bytes } of files) {
    const source = await sourceOf(await filesOf(location), location, bytes);
    for await (const lines of linesOf(source)) yield rowLines(lines.map((line) => rowOf(line, columns)));
  }
}

const readers: Partial<Record<(typeof lineFields)[number], (field: string) => string | null>> = {
  occurred_at: (field) => `${field}+00`,
  region: unescaped,
  city: unescaped,
  rule: (field) => field || null,
  variant: (field) => field || null,
};

/** A scan line as Postgres prints the row: `(1,scan_…,…)`. A column that lines do not have is NULL. */
export function rowOf(line: string, columns: string[]): string {
  const fields = line.split('\t');
  const values = columns.map((column) => {
    const name = column as (typeof lineFields)[number];
    const field = fields[lineFields.indexOf(name)];
    return field === undefined ? null : (readers[name]?.(field) ?? (name in readers ? null : field));
  });
  return `(${values.map(quoted).join(',')})`;
}

const quoted = (value: string | null) => {
  if (value === null) return '';
  return value === '' || /[\s(),"\\]/.test(value) ? `"${value.replace(/["\\]/g, '$&$&')}"` : value;
};
