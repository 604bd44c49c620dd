import { lowerPriority } from '../lib/lower-priority.ts';
import { readLogo } from '../logos/read-logo.ts';
import { examine } from '../proof/examine.ts';
import { drawQrImage } from '../qr/image.ts';
import { drawSheetPage } from '../qr/sheet/sheet-page.ts';
import { writeReportPdf } from '../reports/pdf.ts';
import type { JobMessage, JobResponse, Jobs } from './jobs.ts';

/** The script of a render process: it answers one message after another, and ends with the process that started it. */
const jobs: Jobs = {
  image: drawQrImage,
  logo: readLogo,
  proof: examine,
  page: async (page) => drawSheetPage(page),
  report: async (report) => writeReportPdf(report),
};

function run(message: JobMessage): Promise<unknown> {
  switch (message.kind) {
    case 'image':
      return jobs.image(message.job);
    case 'logo':
      return jobs.logo(message.job);
    case 'proof':
      return jobs.proof(message.job);
    case 'page':
      return jobs.page(message.job);
    case 'report':
      return jobs.report(message.job);
  }
}

async function answerTo(message: JobMessage): Promise<JobResponse> {
  try {
    return { result: await run(message) };
  } catch (error) {
    const { name, message: text } = error instanceof Error ? error : new Error(String(error));
    return { error: { isRange: name === 'RangeError' || error instanceof RangeError, message: text } };
  }
}

/** Pixels are not part of the heap of JavaScript, which would grow first: a collection, of 10 ms, frees 50 to 100 MB of them. */
const collectAboveBytes = 96 * 1024 ** 2;

void lowerPriority();
process.on('message', async (message: JobMessage) => {
  process.send?.(await answerTo(message));
  if (process.memoryUsage.rss() > collectAboveBytes) Bun.gc(true);
});
process.on('disconnect', () => process.exit());
