import type { InkSpace } from '../vector/ink.ts';
import { pointsOf } from '../vector/numbers.ts';
import { addPage, endPdf } from '../vector/pdf.ts';
import { PdfFile } from '../vector/pdf-file.ts';
import { PdfParts } from '../vector/pdf-parts.ts';
import type { SheetLayout } from './layouts.ts';
import type { DrawnPage, Label, SheetPage } from './sheet-page.ts';

export interface Sheet {
  layout: SheetLayout;
  color: InkSpace;
  /** Labels of the first page that stay empty. */
  skip: number;
  title: string;
  count: number;
  /** The labels from one index to before another. */
  labels(from: number, to: number): Promise<readonly Label[]>;
}

/** Writes label sheets as a PDF file, page by page: no more than a page is in memory. */
export async function* writeSheets(
  { layout, color, skip, title, count, labels }: Sheet,
  drawPage: (page: SheetPage) => Promise<DrawnPage>,
): AsyncGenerator<Uint8Array> {
  const file = new PdfFile();
  const parts = new PdfParts(file);
  const tree = file.reserve();
  const pages: number[] = [];
  const perPage = layout.columns * layout.rows;
  const size: [number, number] = [pointsOf(layout.page.width), pointsOf(layout.page.height)];
  for (let from = 0; from < count; ) {
    const firstCell = from === 0 ? skip : 0;
    const to = Math.min(count, from + perPage - firstCell);
    const drawn = await drawPage({ layout, color, firstCell, labels: await labels(from, to) });
    pages.push(addPage(file, tree, size, drawn.content, parts.add(drawn.parts)));
    yield file.take();
    from = to;
  }
  endPdf(file, tree, pages, title);
  yield file.take();
}
