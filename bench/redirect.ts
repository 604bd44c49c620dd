import { type Ground, load, startPeer } from './ground.ts';
import { type BenchRow, median, ms, perSecond, rowOf } from './row.ts';

const connections = 256;

/** Redirects with every scan committed before its 302, the whole pipeline running, against Elysia that does nothing. */
export async function benchRedirect(
  ground: Ground,
  { repetitions = 3, seconds = 4, onStep = (_: string) => {} } = {},
): Promise<BenchRow[]> {
  const bare = await startPeer('bare-elysia.ts');
  const bareUrl = `http://127.0.0.1:${bare.port}/bench`;
  try {
    const one = await ground.serve();
    const oneUrl = `http://127.0.0.1:${one.port}/${ground.code.short_code}`;
    const limits: number[] = [];
    const singles: number[] = [];
    // Warm both, then take turns, so that the machine's moods hit both.
    for (const url of [bareUrl, oneUrl]) await load(url, { connections, seconds: 2 });
    for (let i = 0; i < repetitions; i++) {
      onStep(`redirects, round ${i + 1} of ${repetitions}`);
      limits.push((await load(bareUrl, { connections, seconds })).perSecond);
      singles.push((await load(oneUrl, { connections, seconds })).perSecond);
    }
    const [limit, single] = [median(limits), median(singles)];

    onStep('latency at half that load');
    const rate = Math.round(single / 2);
    const slow: number[] = [];
    const quick: number[] = [];
    for (let i = 0; i < repetitions; i++) {
      quick.push((await load(bareUrl, { connections: 64, seconds, rate })).p99);
      slow.push((await load(oneUrl, { connections: 64, seconds, rate })).p99);
    }
    await one.stop();

    onStep('two edges on one port');
    const two = await ground.serve({ edges: 2 });
    const twoUrl = `http://127.0.0.1:${two.port}/${ground.code.short_code}`;
    const doubles: number[] = [];
    await load(twoUrl, { connections, seconds: 2 });
    for (let i = 0; i < repetitions; i++) doubles.push((await load(twoUrl, { connections, seconds })).perSecond);
    await two.stop();
    const double = median(doubles);

    return [
      rowOf(
        {
          what: 'redirects/s, every scan committed first, one edge',
          figure: perSecond(single),
          against: `bare Elysia 302: ${perSecond(limit)}`,
          ratio: single / limit,
          value: single / limit,
        },
        { target: 0.3, goal: 0.5, kind: 'least' },
      ),
      rowOf(
        {
          what: 'the same with --edges 2',
          figure: perSecond(double),
          against: `one edge: ${perSecond(single)}`,
          ratio: double / single,
          value: double / single,
        },
        { target: 1.2, goal: 2, kind: 'least', unit: ' ×' },
      ),
      rowOf(
        {
          what: `redirect p99 at half that load (${perSecond(rate)})`,
          figure: ms(median(slow)),
          against: `bare Elysia: ${ms(median(quick))}`,
          ratio: median(slow) / median(quick),
          value: median(slow) / median(quick),
        },
        { target: 5, goal: 2, kind: 'most', unit: ' ×' },
      ),
    ];
  } finally {
    await bare.stop();
  }
}
