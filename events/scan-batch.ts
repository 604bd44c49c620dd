import type { Scan } from './scan.ts';

/** Scans that are stored together under a writer's batch number. A retry must send the identical batch. */
export interface ScanBatch {
  writer: string;
  number: number;
  /** Of a merged batch: the number of the first batch in it. `number` is then the number of the last. */
  first?: number;
  /** The scans by column, each a Postgres array literal; spool and Postgres get the same text. */
  columns: Columns;
}

type OptionalColumn = 'rule' | 'variant';
/** `rule` and `variant` are absent if no scan of the batch has one. */
type Columns = Record<Exclude<keyof Scan, OptionalColumn> | 'is_first', string> &
  Partial<Record<OptionalColumn, string>>;

const quoted = (text: string) => `"${/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`;
const array = (values: unknown[]) => `{${values.join(',')}}`;

/** Of several scans by one visitor in a batch, only the first can be unique. */
function firstsOf(visitors: string[]): string {
  const seen = new Set<string>();
  return array(visitors.map((visitor) => seen.size < seen.add(visitor).size));
}

export function batchOf(writer: string, number: number, scans: Scan[]): ScanBatch {
  return {
    writer,
    number,
    columns: {
      is_first: firstsOf(scans.map(({ visitor }) => visitor)),
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

/** The text between the braces of an array literal. */
const elements = (literal: string) => literal.slice(1, -1);

/**
 * Joins batches of one writer, in the order of their numbers, into one that is stored by one statement.
 *
 * @example
 * const merged = mergeBatches([batchOf('w', 4, scans), batchOf('w', 5, moreScans)]);
 * merged.first; // 4
 * merged.number; // 5
 */
export function mergeBatches(batches: readonly [ScanBatch, ...ScanBatch[]]): ScanBatch {
  const [head, ...rest] = batches;
  const last = rest.at(-1);
  if (last === undefined) return head;
  const join = (name: keyof Columns) =>
    array(batches.map((batch) => elements(batch.columns[name] ?? array(Array(sizeOf(batch)).fill('NULL')))));
  const names = Object.keys(head.columns) as (keyof Columns)[];
  const columns = Object.fromEntries(names.map((name) => [name, join(name)])) as Columns;
  columns.is_first = firstsOf(elements(columns.visitor).split(','));
  if (batches.some((batch) => batch.columns.rule !== undefined))
    Object.assign(columns, { rule: join('rule'), variant: join('variant') });
  return { writer: head.writer, first: head.number, number: last.number, columns };
}

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
