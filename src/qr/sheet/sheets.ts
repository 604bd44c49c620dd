import { createWorkerThread } from '../../lib/worker-thread.ts';
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

export interface Sheets {
  /** A PDF file, page by page: no more than a page is in memory. */
  write(sheet: Sheet): AsyncGenerator<Uint8Array>;
  close(): Promise<void>;
}

const idleMs = 60_000;
const script = new URL('./sheet-worker.ts', import.meta.url);

/** Draws label sheets in a worker thread, which starts with the first sheet and ends when it is idle. */
export function createSheets(): Sheets {
  const thread = createWorkerThread<SheetPage, DrawnPage>(script, { idleMs });

  async function* write({ layout, color, skip, title, count, labels }: Sheet): AsyncGenerator<Uint8Array> {
    const file = new PdfFile();
    const parts = new PdfParts(file);
    const tree = file.reserve();
    const pages: number[] = [];
    const perPage = layout.columns * layout.rows;
    const size: [number, number] = [pointsOf(layout.page.width), pointsOf(layout.page.height)];
    for (let from = 0; from < count; ) {
      const firstCell = from === 0 ? skip : 0;
      const to = Math.min(count, from + perPage - firstCell);
      const drawn = await thread.run({ layout, color, firstCell, labels: await labels(from, to) });
      pages.push(addPage(file, tree, size, drawn.content, parts.add(drawn.parts)));
      yield file.take();
      from = to;
    }
    endPdf(file, tree, pages, title);
    yield file.take();
  }

  return { write, close: thread.close };
}
