import type { Style } from '../../../events/style.ts';
import frameFont from '../frame-font.json' with { type: 'json' };
import type { LogoArt } from '../logo-art.ts';
import { type Scene, type Shape, sceneOf } from '../scene.ts';
import { type InkSpace, inkOf } from '../vector/ink.ts';
import { numerals, pointsOf } from '../vector/numbers.ts';
import { behindLogo, placement, shapesOf } from '../vector/pdf.ts';
import { contentOf, nameOf, type PdfPart } from '../vector/pdf-content.ts';
import { deflated } from '../vector/pdf-file.ts';
import { drawLine } from '../vector/pdf-text.ts';
import { captionLines, writableText } from './caption.ts';
import { planLabel } from './label.ts';
import { type Cell, cellsOf, type SheetLayout } from './layouts.ts';

export interface Label {
  url: string;
  style: Style;
  /** The image of `style.logo`. */
  logo?: LogoArt | undefined;
  /** Undefined for no caption. */
  caption?: string | undefined;
}

export interface SheetPage {
  layout: SheetLayout;
  labels: readonly Label[];
  /** The first label of the page that is printed. */
  firstCell: number;
  color: InkSpace;
}

export interface DrawnPage {
  /** Compressed. */
  content: Uint8Array;
  parts: readonly PdfPart[];
}

const captionColor = '#000000';

/** Draws the labels of one page. */
export function drawSheetPage({ layout, labels, firstCell, color }: SheetPage): DrawnPage {
  const cells = cellsOf(layout).slice(firstCell);
  const parts = new Map<string, PdfPart>();
  const operators = labels.flatMap((label, i) => {
    const cell = cells[i];
    if (cell === undefined) throw new RangeError('a page has fewer labels than that');
    return drawLabel(label, cell, layout.page.height, color, parts);
  });
  return { content: deflated(operators.join('\n')), parts: [...parts.values()] };
}

function drawLabel(
  { url, style, logo, caption }: Label,
  cell: Cell,
  pageHeightMm: number,
  color: InkSpace,
  parts: Map<string, PdfPart>,
): string[] {
  const plan = planLabel(cell, caption !== undefined);
  const scene = sceneOf(url, style, { logo, font: frameFont });
  const { area } = scene;
  const { image } = plan;
  const scaleMm = Math.min(image.width / area.width, image.height / area.height);
  const left = image.x + (image.width - area.width * scaleMm) / 2;
  const top = image.y + (image.height - area.height * scaleMm) / 2;
  const fromTop = (mm: number) => pointsOf(pageHeightMm - mm);
  const names = formsOf(scene, color).map((form) => {
    parts.set(form.name, form);
    return `/${form.name} Do`;
  });
  const drawn = ['q', placement(area, pointsOf(scaleMm), pointsOf(left), fromTop(top)), ...names, 'Q'];
  if (caption === undefined || plan.caption === undefined) return drawn;
  const lines = captionLines(
    writableText(caption, url.replace(/^https?:\/\//, ''), frameFont),
    plan.caption,
    frameFont,
  );
  const ink = `${inkOf(captionColor, color)} ${color === 'rgb' ? 'rg' : 'k'}`;
  return [...drawn, ink, ...lines.flatMap((line) => drawLine(line, fromTop, parts))];
}

/** The dots, which are different on every label, and all else, which codes of one style share. */
function formsOf(scene: Scene, color: InkSpace): PdfPart[] {
  const shapes = shapesOf(scene);
  const own = shapes.indexOf(scene.shapes[0] as Shape);
  const behind = behindLogo(scene);
  return [shapes.slice(0, own), shapes.slice(own, own + 1), shapes.slice(own + 1)]
    .filter((some) => some.length > 0)
    .map((some) => formOf(some, scene, color, behind));
}

function formOf(shapes: readonly Shape[], { area }: Scene, color: InkSpace, behind: string): PdfPart {
  const { operators, parts } = contentOf(shapes, color, behind);
  const box = numerals(area.x, area.y, area.x + area.width, area.y + area.height);
  return {
    name: nameOf('F', `${box} ${operators}`),
    kind: 'XObject',
    dictionary: `/Type/XObject/Subtype/Form/BBox[${box}]`,
    stream: deflated(operators),
    ...(parts.length === 0 ? {} : { uses: parts }),
  };
}
