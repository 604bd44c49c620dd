import { type BenchStack, load } from './bench-stack.ts';
import { type BenchRow, boundedRow, median, ms } from './row.ts';

const rate = 1_000;
const concurrentDownloads = 4;
const minSize = 1_700;
const maxSize = 2_048;

/** How much a burst of large image downloads delays redirects. */
export async function benchBurst(
  stack: BenchStack,
  { repetitions = 3, seconds = 4, onStep = (_: string) => {} } = {},
): Promise<BenchRow[]> {
  const { port, stop } = await stack.serve();
  const url = `http://127.0.0.1:${port}`;
  const redirects = () => load(`${url}/${stack.code.short_code}`, { connections: 16, seconds, rate });
  const [idle, busy]: [number[], number[]] = [[], []];
  let size = minSize;
  let downloads = 0;
  await redirects();
  for (let round = 1; round <= repetitions; round++) {
    onStep(`redirects during a burst of downloads, round ${round} of ${repetitions}`);
    idle.push((await redirects()).p99);
    const measuring = redirects();
    let isOver = false;
    measuring.then(() => {
      isOver = true;
    });
    // Every size is requested once, so that no image comes from the cache.
    const download = async () => {
      while (!isOver && size < maxSize) {
        await fetch(`${url}/images/${stack.code.id}/public?size=${size++}`).then((response) => response.arrayBuffer());
        downloads++;
      }
    };
    await Promise.all(Array.from({ length: concurrentDownloads }, download));
    busy.push((await measuring).p99);
  }
  await stop();
  return [
    boundedRow(
      {
        what: `redirect p99 at ${rate.toLocaleString('en')}/s during ${downloads} image downloads of ${minSize.toLocaleString('en')}–${maxSize.toLocaleString('en')} px`,
        figure: ms(median(busy)),
        against: `without downloads: ${ms(median(idle))}`,
        ratio: median(busy) / median(idle),
      },
      { target: 2, goal: 2, kind: 'max', unit: ' ×' },
    ),
  ];
}
