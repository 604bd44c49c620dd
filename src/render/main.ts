import { leaveFirstCpu } from '../lib/leave-first-cpu.ts';
import { lowerPriority } from '../lib/lower-priority.ts';
import { readLogo } from '../logos/read-logo.ts';
import { examine } from '../proof/examine.ts';
import { drawQrImage } from '../qr/image.ts';
import { drawSheetPage } from '../qr/sheet/sheet-page.ts';
import { writeReportPdf } from '../reports/pdf.ts';
import type { JobMessage, JobResponse, Jobs, Pace } from './jobs.ts';

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
  const before = process.cpuUsage();
  const cpuMs = () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
  try {
    const result = await run(message);
    return { result, cpuMs: cpuMs() };
  } catch (error) {
    const { name, message: text } = error instanceof Error ? error : new Error(String(error));
    const isRange = name === 'RangeError' || error instanceof RangeError;
    return { error: { isRange, message: text }, cpuMs: cpuMs() };
  }
}

/** A third of the CPU share of redirects, and a thirtieth. */
const [quickNiceness, slowNiceness] = [5, 15];

/** Pixels are not part of the heap of JavaScript, which would grow first: a collection, of 10 ms, frees 50 to 100 MB of them. */
const collectAboveBytes = 96 * 1024 ** 2;

const isSlow = (process.argv[2] as Pace | undefined) === 'slow';
void lowerPriority(isSlow ? slowNiceness : quickNiceness);
if (isSlow) leaveFirstCpu();
process.on('message', async (message: JobMessage) => {
  process.send?.(await answerTo(message));
  if (process.memoryUsage.rss() > collectAboveBytes) Bun.gc(true);
});
process.on('disconnect', () => process.exit());
