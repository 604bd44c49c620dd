import { type Ground, load } from './ground.ts';
import { type BenchRow, median, ms, rowOf } from './row.ts';

const rate = 1_000;

/** What a burst of the largest downloads does to redirects beside it. */
export async function benchBurst(
  ground: Ground,
  { repetitions = 3, seconds = 4, onStep = (_: string) => {} } = {},
): Promise<BenchRow[]> {
  const { port, stop } = await ground.serve();
  const url = `http://127.0.0.1:${port}`;
  const redirects = () => load(`${url}/${ground.code.short_code}`, { connections: 16, seconds, rate });
  let size = 1_700;
  const idle: number[] = [];
  const busy: number[] = [];
  let drawn = 0;
  await redirects();
  for (let i = 0; i < repetitions; i++) {
    onStep(`redirects beside a burst of downloads, round ${i + 1} of ${repetitions}`);
    idle.push((await redirects()).p99);
    const measuring = redirects();
    let over = false;
    measuring.then(() => {
      over = true;
    });
    // A size that was not asked for before is not kept yet: every one is drawn.
    const ask = async () => {
      while (!over && size < 2_048) {
        await fetch(`${url}/images/${ground.code.id}/public?size=${size++}`).then((answer) => answer.arrayBuffer());
        drawn++;
      }
    };
    await Promise.all([ask(), ask(), ask(), ask()]);
    busy.push((await measuring).p99);
  }
  await stop();
  return [
    rowOf(
      {
        what: `redirect p99 at ${rate.toLocaleString('en')}/s beside ${drawn} downloads of about 2,048 px`,
        figure: ms(median(busy)),
        against: `without: ${ms(median(idle))}`,
        ratio: median(busy) / median(idle),
        value: median(busy) / median(idle),
      },
      { target: 2, goal: 2, kind: 'most', unit: ' ×' },
    ),
  ];
}
