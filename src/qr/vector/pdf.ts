import type { Area } from '../fill.ts';
import { rectPath } from '../frame.ts';
import type { Scene, Shape } from '../scene.ts';
import type { InkSpace } from './ink.ts';
import { numeral, pointsOf } from './numbers.ts';
import { contentOf, precise } from './pdf-content.ts';
import { deflated, PdfFile, reference, textString } from './pdf-file.ts';
import { PdfParts } from './pdf-parts.ts';

/** Writes a scene as a PDF file of one page, which is exactly that wide. */
export function writePdf(scene: Scene, widthMm: number, space: InkSpace, title: string): Uint8Array<ArrayBuffer> {
  const { area } = scene;
  const scale = pointsOf(widthMm) / area.width;
  const { operators, parts } = contentOf(shapesOf(scene), space, behindLogo(scene));
  const content = `q\n${placement(area, scale, 0, area.height * scale)}\n${operators}\nQ`;
  const file = new PdfFile();
  const tree = file.reserve();
  const resources = new PdfParts(file).add(parts);
  const page = addPage(file, tree, [area.width * scale, area.height * scale], deflated(content), resources);
  endPdf(file, tree, [page], title);
  return file.take();
}

/** All shapes of a scene, its background first. */
export function shapesOf({ area, background, shapes }: Scene): Shape[] {
  if (background === undefined) return [...shapes];
  return [{ kind: 'path', fill: background, isCrisp: true, path: rectPath(area, [0, 0, 0, 0]) }, ...shapes];
}

/** The solid color that a logo is on: its plate, else the background; white paper if that is a gradient or transparent. */
export function behindLogo({ shapes, background }: Scene): string {
  const logo = shapes.find((shape) => shape.kind === 'logo');
  const fill = logo?.plate ?? background;
  return typeof fill === 'string' ? fill : '#FFFFFF';
}

/** The operator that places an area with its top-left corner at a point; PDF's y axis points up, the y axis of scenes down. */
export const placement = ({ x, y }: Pick<Area, 'x' | 'y'>, scale: number, left: number, top: number): string =>
  `${precise(scale)} 0 0 ${precise(-scale)} ${numeral(left - x * scale)} ${numeral(top + y * scale)} cm`;

/** Writes a page of that size in points. Its content is compressed already. */
export function addPage(
  file: PdfFile,
  tree: number,
  [width, height]: [number, number],
  content: Uint8Array,
  resources: string,
): number {
  const box = `[0 0 ${numeral(width)} ${numeral(height)}]`;
  const contents = file.addStream('', content);
  const boxes = `/MediaBox${box}/TrimBox${box}`;
  return file.add(
    `<</Type/Page/Parent ${reference(tree)}${boxes}/Resources${resources}/Contents ${reference(contents)}>>`,
  );
}

/** Writes the page tree, under its reserved number, and what ends a file. */
export function endPdf(file: PdfFile, tree: number, pages: readonly number[], title: string): void {
  file.add(`<</Type/Pages/Kids[${pages.map(reference).join(' ')}]/Count ${pages.length}>>`, tree);
  const root = file.add(`<</Type/Catalog/Pages ${reference(tree)}/ViewerPreferences<</PrintScaling/None>>>>`);
  const info = file.add(`<</Title${textString(title)}/Creator(Scanlog)>>`);
  file.end(root, info);
}
