import { answerRequests } from '../../lib/thread-script.ts';
import { type DrawnPage, drawSheetPage, type SheetPage } from './sheet-page.ts';

/** The script of the thread that draws label sheets. */
answerRequests(async (page: SheetPage): Promise<DrawnPage> => drawSheetPage(page));
