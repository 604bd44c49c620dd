import { type Static, type TSchema, Type as t } from '@sinclair/typebox';
import { oneOf } from '../../../events/one-of.ts';
import { normalizeTag } from '../../../events/tags.ts';
import type { Caller } from '../../accounts/admission.ts';
import { countPrinted, findPrinted, type PrintedCode } from '../../codes/printed.ts';
import { type FieldError, invalid, Refusal } from '../../lib/errors.ts';
import { labelSizeOf, pages, type SheetLayout, stockLayoutNames, stockLayouts } from '../../qr/sheet/layouts.ts';
import { exact } from '../http/schemas.ts';
import { errorFinder } from '../http/validate.ts';
import type { Service } from '../service.ts';

export const maxLabels = 1_000;
const maxGrid = 50;
/** Smaller labels have no room for a code that scans. */
const minLabelMm = 10;

const millimeters = (maximum: number, description: string, minimum = 0) =>
  t.Number({ minimum, maximum, description, examples: [Math.max(10, minimum)] });

const PageSize = t.Object(
  {
    width: millimeters(1000, 'Width in millimeters.', 20),
    height: millimeters(1000, 'Height in millimeters.', 20),
  },
  exact,
);
const Margins = t.Object(
  {
    top: millimeters(500, 'Above the first row.'),
    right: millimeters(500, 'Right of the last column.'),
    bottom: millimeters(500, 'Below the last row.'),
    left: millimeters(500, 'Left of the first column.'),
  },
  exact,
);
const Gap = t.Object({ x: millimeters(500, 'Between columns.'), y: millimeters(500, 'Between rows.') }, exact);

/** A union whose error says what it must be; the object among its members is validated by itself, for the field's name. */
const either = <S extends TSchema[]>(schemas: [...S], expected: string, description: string) =>
  t.Union(schemas, { description, 'x-expected': expected });

const pageNames = Object.keys(pages) as (keyof typeof pages)[];

const Grid = t.Object(
  {
    page: either([oneOf(pageNames), PageSize], 'a4, letter or an object', '`a4`, `letter`, or a size in millimeters.'),
    columns: t.Integer({ minimum: 1, maximum: maxGrid, description: 'Labels in a row.', examples: [3] }),
    rows: t.Integer({ minimum: 1, maximum: maxGrid, description: 'Labels in a column.', examples: [8] }),
    margins: t.Optional(
      either(
        [millimeters(500, 'The same on all sides.'), Margins],
        'a number from 0 to 500 or an object',
        'Margins of the page in millimeters, one for all sides or `{top, right, bottom, left}`. Default: 10.',
      ),
    ),
    gap: t.Optional(
      either(
        [millimeters(500, 'The same in both directions.'), Gap],
        'a number from 0 to 500 or an object',
        'Space between labels in millimeters, one for both directions or `{x, y}`. Default: 0.',
      ),
    ),
  },
  { ...exact, examples: [{ page: 'a4', columns: 3, rows: 8, margins: 10, gap: 2 }] },
);

const stockList = Object.entries(stockLayouts)
  .map(([name, { label, product }]) => `\`${name}\` (${label}, such as ${product})`)
  .join(', ');

const sheetOrders = ['name', 'created_at'] as const;
export const captions = ['name', 'short_url', 'none'] as const;

export const NewSheet = t.Object(
  {
    qr_ids: t.Optional(
      t.Array(t.String({ maxLength: 50, examples: ['qr_0VMNcq2hE3kx0dTtWq8LbY'], 'x-expected': 'an id' }), {
        minItems: 1,
        maxItems: maxLabels,
        description: `Up to ${maxLabels.toLocaleString('en')} codes, one label each, in this order. An id that occurs twice gets two labels.`,
      }),
    ),
    tag: t.Optional(
      t.String({
        minLength: 1,
        maxLength: 255,
        description: 'In place of `qr_ids`: all codes with this tag, ignoring case, sorted by name.',
        examples: ['tables'],
        'x-expected': 'a tag',
      }),
    ),
    sort: t.Optional(
      oneOf(sheetOrders, {
        description:
          'Order of the labels: by `name`, where "Table 2" is before "Table 10", or by `created_at`, oldest first. Default: the order of `qr_ids`, or by name for a `tag`.',
        examples: ['name'],
      }),
    ),
    layout: either(
      [oneOf(stockLayoutNames), Grid],
      `one of ${stockLayoutNames.join(', ')}, or an object`,
      `Label stock, or a grid of its own as an object. ${stockList}.`,
    ),
    caption: t.Optional(
      oneOf(captions, { default: 'none', description: 'Text beside or below each code.', examples: ['name'] }),
    ),
    skip: t.Optional(
      t.Integer({
        minimum: 0,
        maximum: maxGrid * maxGrid,
        default: 0,
        description: 'Labels of the first page that are used already and stay empty.',
        examples: [0],
      }),
    ),
    color: t.Optional(oneOf(['rgb', 'cmyk'], { default: 'rgb', description: 'Color space of the file.' })),
  },
  { ...exact, examples: [{ tag: 'tables', layout: 'a4-3x8', caption: 'name' }] },
);

/** A valid request, with its layout resolved. */
export interface SheetRequest {
  codes: { qrIds: string[] } | { tag: string };
  /** undefined for the order of the ids. */
  order: (typeof sheetOrders)[number] | undefined;
  layout: SheetLayout;
  caption: (typeof captions)[number];
  skip: number;
  color: 'rgb' | 'cmyk';
}

const sheetErrors = errorFinder(NewSheet, 'body');
const gridErrors = errorFinder(Grid, 'body');
const nestedErrors = {
  page: errorFinder(PageSize, 'body'),
  margins: errorFinder(Margins, 'body'),
  gap: errorFinder(Gap, 'body'),
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The errors in an object, under the name of the field that it is in. */
const within = (field: string, errors: FieldError[]): FieldError[] =>
  errors.map((error) => {
    const isWhole = error.field === 'body';
    const name = isWhole ? field : `${field}.${error.field}`;
    return { field: name, message: isWhole ? error.message : error.message.replaceAll(error.field, name) };
  });

/** Validates the body; throws 400 with every error, named by its field: `layout.margins.top`. */
export function readSheet(body: unknown): SheetRequest {
  const layout = isObject(body) ? body['layout'] : undefined;
  const errors = sheetErrors(body).filter(({ field }) => !(field === 'layout' && isObject(layout)));
  if (isObject(layout)) {
    const isNested = ({ field }: FieldError) => Object.hasOwn(nestedErrors, field) && isObject(layout[field]);
    errors.push(
      ...within(
        'layout',
        gridErrors(layout).filter((error) => !isNested(error)),
      ),
    );
    for (const [field, find] of Object.entries(nestedErrors))
      if (isObject(layout[field])) errors.push(...within(`layout.${field}`, find(layout[field])));
  }
  const given = isObject(body) ? ['qr_ids', 'tag'].filter((field) => body[field] !== undefined) : [];
  if (isObject(body) && given.length !== 1)
    errors.push({ field: 'qr_ids', message: 'Either qr_ids or tag is required, and not both.' });
  refuse(errors);

  const { qr_ids, tag = '', sort, layout: name, ...rest } = body as Static<typeof NewSheet>;
  const { caption = 'none', skip = 0, color = 'rgb' } = rest;
  const grid = typeof name === 'string' ? stockLayouts[name] : gridOf(name);
  refuse(layoutErrors(grid, skip));
  const codes = qr_ids === undefined ? { tag: normalizeTag(tag) } : { qrIds: qr_ids };
  return { codes, order: sort, layout: grid, caption, skip, color };
}

function refuse([first, ...rest]: FieldError[]): void {
  if (first !== undefined) throw invalid([first, ...rest]);
}

function gridOf({ page, columns, rows, margins = 10, gap = 0 }: Static<typeof Grid>): SheetLayout {
  return {
    columns,
    rows,
    page: typeof page === 'string' ? pages[page] : page,
    margins: typeof margins === 'number' ? { top: margins, right: margins, bottom: margins, left: margins } : margins,
    gap: typeof gap === 'number' ? { x: gap, y: gap } : gap,
  };
}

function layoutErrors(layout: SheetLayout, skip: number): FieldError[] {
  const { width, height } = labelSizeOf(layout);
  if (Math.min(width, height) < minLabelMm) {
    const size = `${width.toFixed(1)} × ${height.toFixed(1)} mm`;
    return [
      { field: 'layout', message: `layout leaves ${size} for a label; it needs at least ${minLabelMm} mm each way.` },
    ];
  }
  const labels = layout.columns * layout.rows;
  if (skip >= labels)
    return [{ field: 'skip', message: `skip must be less than ${labels}, the number of labels on a page.` }];
  return [];
}

/** The codes of a sheet in its order. Throws 404 with the index of every id that does not exist in this account and mode. */
export async function codesOf(
  { sql }: Pick<Service, 'sql'>,
  caller: Caller,
  { codes, order }: SheetRequest,
): Promise<PrintedCode[]> {
  if ('tag' in codes) return codesWithTag({ sql }, caller, codes.tag, order);
  const printed = await findPrinted(sql, caller, codes, { order, limit: maxLabels });
  const found = new Map(printed.map((code) => [code.id, code]));
  const missing = codes.qrIds.flatMap((id, index) =>
    found.has(id) ? [] : [{ index, field: 'qr_ids', message: `There is no QR code ${id} in this account and mode.` }],
  );
  const [first] = missing;
  if (first !== undefined)
    throw new Refusal('not_found', `qr_ids[${first.index}]: ${first.message}`, missing.slice(0, 20));
  if (order === undefined) return codes.qrIds.flatMap((id) => found.get(id) ?? []);
  const labels = Map.groupBy(codes.qrIds, (id) => id);
  return [...found.values()].flatMap((code) => (labels.get(code.id) ?? []).map(() => code));
}

async function codesWithTag(
  { sql }: Pick<Service, 'sql'>,
  caller: Caller,
  tag: string,
  order: SheetRequest['order'] = 'name',
): Promise<PrintedCode[]> {
  const codes = await findPrinted(sql, caller, { tag }, { order, limit: maxLabels + 1 });
  if (codes.length === 0)
    throw new Refusal('not_found', `No QR code has the tag "${tag}".`, [
      { field: 'tag', message: `No QR code has the tag "${tag}".` },
    ]);
  if (codes.length > maxLabels) {
    const total = await countPrinted(sql, caller, { tag });
    const limit = maxLabels.toLocaleString('en');
    throw invalid([
      { field: 'tag', message: `tag "${tag}" has ${total} codes; a sheet can have at most ${limit} labels.` },
    ]);
  }
  return codes;
}
