import type { InkSpace } from '../vector/ink.ts';
import { pointsOf } from '../vector/numbers.ts';
import { addPage, endPdf } from '../vector/pdf.ts';
import { PdfFile } from '../vector/pdf-file.ts';
import { PdfParts } from '../vector/pdf-parts.ts';
import type { SheetLayout } from './layouts.ts';
import type { DrawnPage, Label, SheetPage } from './sheet-page.ts';

/** The labels of a sheet, in its order. */
export interface Labels {
  count: number;
  /** Those from one index to before another. */
  part(from: number, to: number): Promise<readonly Label[]>;
}

export interface Sheet {
  layout: SheetLayout;
  color: InkSpace;
  /** Labels of the first page that stay empty. */
  skip: number;
  title: string;
  /** Called once, when the first page is drawn. */
  labels(): Promise<Labels>;
}

/**
 * Writes label sheets as a PDF file, page by page: no more than a page is in memory. `drawPage` loads a page when its turn to be
 * drawn comes, so that a sheet that waits for its first turn has read nothing.
 */
export async function* writeSheets(
  { layout, color, skip, title, labels }: Sheet,
  drawPage: (load: () => Promise<SheetPage>) => Promise<DrawnPage>,
): AsyncGenerator<Uint8Array> {
  const file = new PdfFile();
  const parts = new PdfParts(file);
  const tree = file.reserve();
  const pages: number[] = [];
  const perPage = layout.columns * layout.rows;
  const size: [number, number] = [pointsOf(layout.page.width), pointsOf(layout.page.height)];
  let all: Labels | undefined;
  for (let from = 0; all === undefined || from < all.count; ) {
    const firstCell = from === 0 ? skip : 0;
    const to = from + perPage - firstCell;
    const drawn = await drawPage(async () => {
      all ??= await labels();
      return { layout, color, firstCell, labels: await all.part(from, Math.min(to, all.count)) };
    });
    pages.push(addPage(file, tree, size, drawn.content, parts.add(drawn.parts)));
    yield file.take();
    from = to;
  }
  endPdf(file, tree, pages, title);
  yield file.take();
}
