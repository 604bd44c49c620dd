import type { Scan } from './scan.ts';

/** Scans that are stored together under a writer's batch number. A retry must send the identical batch. */
export interface ScanBatch {
  writer: string;
  number: number;
  /** The scans by column, each a Postgres array literal; spool and Postgres get the same text. */
  columns: Columns;
}

type OptionalColumn = 'rule' | 'variant';
/** `rule` and `variant` are absent if no scan of the batch has one. */
type Columns = Record<Exclude<keyof Scan, OptionalColumn> | 'is_first', string> &
  Partial<Record<OptionalColumn, string>>;

const quoted = (text: string) => `"${/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`;
const array = (values: unknown[]) => `{${values.join(',')}}`;

export function batchOf(writer: string, number: number, scans: Scan[]): ScanBatch {
  // Of several scans by one visitor in a batch, only the first can be unique.
  const visitors = new Set<string>();
  const isFirst = ({ visitor }: Scan) => visitors.size < visitors.add(visitor).size;
  return {
    writer,
    number,
    columns: {
      is_first: array(scans.map(isFirst)),
      id: array(scans.map(({ id }) => id)),
      code: array(scans.map(({ code }) => code)),
      account: array(scans.map(({ account }) => account)),
      mode: array(scans.map(({ mode }) => mode)),
      occurred_at: array(scans.map(({ occurred_at }) => occurred_at.getTime())),
      country: array(scans.map(({ country }) => quoted(country))),
      region: array(scans.map(({ region }) => quoted(region))),
      city: array(scans.map(({ city }) => quoted(city))),
      device: array(scans.map(({ device }) => device)),
      browser: array(scans.map(({ browser }) => browser)),
      is_bot: array(scans.map(({ is_bot }) => is_bot)),
      visitor: array(scans.map(({ visitor }) => visitor)),
      revision: array(scans.map(({ revision }) => revision)),
      ...(scans.some(({ rule }) => rule !== undefined)
        ? {
            rule: array(scans.map(({ rule }) => rule ?? 'NULL')),
            variant: array(scans.map(({ variant }) => variant ?? 'NULL')),
          }
        : {}),
    },
  };
}

/** The number of scans in a batch. */
export const sizeOf = ({ columns }: ScanBatch): number => columns.is_first.split(',').length;

const arrayElement = /"(?:[^"\\]|\\.)*"|[^",{}]+/gs;

/** The scans from index `from` to before `to` as a batch with a derived writer, identical each time it is created. */
export function sliceOf({ writer, number, columns }: ScanBatch, from: number, to: number): ScanBatch {
  const sliced = Object.entries(columns).map(([name, text]) => [
    name,
    array((text.match(arrayElement) ?? []).slice(from, to)),
  ]);
  return { writer: `${writer}/${number}/${from}-${to}`, number: 1, columns: Object.fromEntries(sliced) };
}

/** The scans of a batch, each as the texts of the given columns; null for a rule or variant that it does not have. */
export function rowsOf({ columns }: ScanBatch, names: (keyof Columns)[]): (string | null)[][] {
  const values = names.map((name) => elementsOf(columns[name] ?? ''));
  return (values[0] ?? []).map((_, row) => values.map((column) => column[row] ?? null));
}

const elementsOf = (array: string): (string | null)[] =>
  (array.match(arrayElement) ?? []).map((element) => {
    if (element.startsWith('"')) return element.slice(1, -1).replace(/\\(.)/gs, '$1');
    return element === 'NULL' ? null : element;
  });
