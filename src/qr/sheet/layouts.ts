/** A grid of labels on a page, in millimeters. */
export interface SheetLayout {
  readonly page: { readonly width: number; readonly height: number };
  readonly columns: number;
  readonly rows: number;
  readonly margins: { readonly top: number; readonly right: number; readonly bottom: number; readonly left: number };
  readonly gap: { readonly x: number; readonly y: number };
}

/** The rectangle of a label, in millimeters from the top-left corner of the page. */
export interface Cell {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export const pages = {
  a4: { width: 210, height: 297 },
  letter: { width: 215.9, height: 279.4 },
} as const;
export type PageName = keyof typeof pages;

/** A layout of label stock: labels of one size, centered on the page. */
function stock(
  page: PageName,
  [columns, rows]: [number, number],
  [width, height]: [number, number],
  gap = { x: 0, y: 0 },
): SheetLayout {
  const beside = (pages[page].width - columns * width - (columns - 1) * gap.x) / 2;
  const above = (pages[page].height - rows * height - (rows - 1) * gap.y) / 2;
  return {
    page: pages[page],
    columns,
    rows,
    gap,
    margins: { top: above, right: beside, bottom: above, left: beside },
  };
}

const between = { x: 2.5, y: 0 };
const inch = 25.4;

/** Label stock in common use, by page and grid. The sizes are those that Avery and others print on the package. */
export const stockLayouts = {
  'a4-2x4': { ...stock('a4', [2, 4], [99.1, 67.7], between), label: '99.1 × 67.7 mm', product: 'Avery L7165' },
  'a4-2x7': { ...stock('a4', [2, 7], [99.1, 38.1], between), label: '99.1 × 38.1 mm', product: 'Avery L7163' },
  'a4-3x4': { ...stock('a4', [3, 4], [63.5, 72], between), label: '63.5 × 72 mm', product: 'Avery L7164' },
  'a4-3x7': { ...stock('a4', [3, 7], [63.5, 38.1], between), label: '63.5 × 38.1 mm', product: 'Avery L7160' },
  'a4-3x8': { ...stock('a4', [3, 8], [70, 37]), label: '70 × 37 mm', product: 'Avery Zweckform 3474' },
  'a4-4x10': { ...stock('a4', [4, 10], [48.5, 25.4]), label: '48.5 × 25.4 mm', product: 'Avery Zweckform 3657' },
  'a4-5x13': { ...stock('a4', [5, 13], [38.1, 21.2], between), label: '38.1 × 21.2 mm', product: 'Avery L7651' },
  'letter-2x3': {
    ...stock('letter', [2, 3], [4 * inch, (10 / 3) * inch], { x: (3 / 16) * inch, y: 0 }),
    label: '4 × 3⅓ in',
    product: 'Avery 5164',
  },
  'letter-2x5': {
    ...stock('letter', [2, 5], [4 * inch, 2 * inch], { x: (3 / 16) * inch, y: 0 }),
    label: '4 × 2 in',
    product: 'Avery 5163',
  },
  'letter-2x10': {
    ...stock('letter', [2, 10], [4 * inch, inch], { x: (3 / 16) * inch, y: 0 }),
    label: '4 × 1 in',
    product: 'Avery 5161',
  },
  'letter-3x10': {
    ...stock('letter', [3, 10], [(21 / 8) * inch, inch], { x: inch / 8, y: 0 }),
    label: '2⅝ × 1 in',
    product: 'Avery 5160',
  },
} as const satisfies Record<string, SheetLayout & { label: string; product: string }>;

export type StockLayout = keyof typeof stockLayouts;
export const stockLayoutNames = Object.keys(stockLayouts) as [StockLayout, ...StockLayout[]];

/** The width and height of every label. */
export function labelSizeOf({ page, columns, rows, margins, gap }: SheetLayout): { width: number; height: number } {
  return {
    width: (page.width - margins.left - margins.right - (columns - 1) * gap.x) / columns,
    height: (page.height - margins.top - margins.bottom - (rows - 1) * gap.y) / rows,
  };
}

/** The labels of a page in reading order. */
export function cellsOf(layout: SheetLayout): Cell[] {
  const { columns, rows, margins, gap } = layout;
  const { width, height } = labelSizeOf(layout);
  return Array.from({ length: rows * columns }, (_, i) => ({
    x: margins.left + (i % columns) * (width + gap.x),
    y: margins.top + Math.floor(i / columns) * (height + gap.y),
    width,
    height,
  }));
}
