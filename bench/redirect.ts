import { type BenchStack, load, startPeer } from './ground.ts';
import { type BenchRow, boundedRow, median, ms, perSecond } from './row.ts';

const connections = 256;

interface Rounds {
  repetitions: number;
  seconds: number;
  onStep(step: string): void;
}

/** Redirects with every scan committed before its 302 and the whole pipeline running, against a bare Elysia 302. */
export async function benchRedirect(
  stack: BenchStack,
  { repetitions = 3, seconds = 4, onStep = (_: string) => {} } = {},
): Promise<BenchRow[]> {
  const rounds = { repetitions, seconds, onStep };
  const bare = await startPeer('bare-elysia.ts');
  const bareUrl = `http://127.0.0.1:${bare.port}/bench`;
  try {
    const service = await stack.serve();
    const edgeUrl = `http://127.0.0.1:${service.port}/${stack.code.short_code}`;
    const { bareRate, edgeRate } = await throughput(bareUrl, edgeUrl, rounds);
    const rate = Math.round(edgeRate / 2);
    const { bareP99, edgeP99 } = await latency(bareUrl, edgeUrl, rate, rounds);
    await service.stop();
    const twoEdgesRate = await throughputOfTwoEdges(stack, rounds);
    return [
      boundedRow(
        {
          what: 'redirects/s, every scan committed first, one edge',
          figure: perSecond(edgeRate),
          against: `bare Elysia 302: ${perSecond(bareRate)}`,
          ratio: edgeRate / bareRate,
        },
        { target: 0.3, goal: 0.5, kind: 'min' },
      ),
      boundedRow(
        {
          what: 'redirects/s with --edges 2',
          figure: perSecond(twoEdgesRate),
          against: `one edge: ${perSecond(edgeRate)}`,
          ratio: twoEdgesRate / edgeRate,
        },
        { target: 1.2, goal: 2, kind: 'min', unit: ' ×' },
      ),
      boundedRow(
        {
          what: `redirect p99 at half the load of one edge (${perSecond(rate)})`,
          figure: ms(edgeP99),
          against: `bare Elysia: ${ms(bareP99)}`,
          ratio: edgeP99 / bareP99,
        },
        { target: 5, goal: 2, kind: 'max', unit: ' ×' },
      ),
    ];
  } finally {
    await bare.stop();
  }
}

async function throughput(bareUrl: string, edgeUrl: string, { repetitions, seconds, onStep }: Rounds) {
  for (const url of [bareUrl, edgeUrl]) await load(url, { connections, seconds: 2 });
  const [bare, edge]: [number[], number[]] = [[], []];
  for (let round = 1; round <= repetitions; round++) {
    onStep(`redirects, round ${round} of ${repetitions}`);
    bare.push((await load(bareUrl, { connections, seconds })).perSecond);
    edge.push((await load(edgeUrl, { connections, seconds })).perSecond);
  }
  return { bareRate: median(bare), edgeRate: median(edge) };
}

async function latency(bareUrl: string, edgeUrl: string, rate: number, { repetitions, seconds, onStep }: Rounds) {
  const [bare, edge]: [number[], number[]] = [[], []];
  for (let round = 1; round <= repetitions; round++) {
    onStep(`redirect latency at ${perSecond(rate)}, round ${round} of ${repetitions}`);
    bare.push((await load(bareUrl, { connections: 64, seconds, rate })).p99);
    edge.push((await load(edgeUrl, { connections: 64, seconds, rate })).p99);
  }
  return { bareP99: median(bare), edgeP99: median(edge) };
}

async function throughputOfTwoEdges(stack: BenchStack, { repetitions, seconds, onStep }: Rounds): Promise<number> {
  const service = await stack.serve({ edges: 2 });
  const url = `http://127.0.0.1:${service.port}/${stack.code.short_code}`;
  const rates: number[] = [];
  await load(url, { connections, seconds: 2 });
  for (let round = 1; round <= repetitions; round++) {
    onStep(`redirects with two edges, round ${round} of ${repetitions}`);
    rates.push((await load(url, { connections, seconds })).perSecond);
  }
  await service.stop();
  return median(rates);
}
