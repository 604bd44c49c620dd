import { serveJobs } from '../../lib/worker-thread.ts';
import { type DrawnPage, drawSheetPage, type SheetPage } from './sheet-page.ts';

/** The script of the thread that draws label sheets. */
serveJobs(async (page: SheetPage): Promise<DrawnPage> => drawSheetPage(page));
