import { join } from 'node:path';
import { messageOf, StartError } from '../src/lib/errors.ts';
import { selectedEngines } from '../src/stack/clickhouse/engines.ts';
import { type BenchStack, startBenchStack, startLoad, startPeer } from './bench-stack.ts';
import { type Operation, operations, type RunningWorld } from './operations-list.ts';
import { eventsOfReader, fillWorld, periodMs, type World } from './operations-world.ts';
import { type Peak, watchMemory } from './peak-memory.ts';
import { type BenchRow, boundedRow, median, ms } from './row.ts';

const defaultSizes = '5000000,20000000';
const redirectsPerSecond = 200;
/** How long redirects are measured before each operation, and beside it at least. */
const aloneMs = 3_000;
const measureMs = 5_000;
/** The rate limit of an account is 300 requests per minute, and the feed takes 21. */
const maxRepetitions = 10;

/** An operation that takes longer is a miss: two minutes, and a minute per million scans. */
const limitMs = (scans: number) => 120_000 + (scans / 1e6) * 60_000;

type OnStep = (step: string) => void;

interface Options {
  onStep?: OnStep;
}

/** What an operation took in a log of one size. */
interface Result {
  /** NaN if it failed. */
  ms: number;
  miss: string | undefined;
  redirectP99: number;
  peak: Peak;
}

/** All operations in a log of one size. */
interface Measured {
  scans: number;
  results: Result[];
  /** Redirects without any operation. */
  aloneP99: number;
}

/**
 * Operations on logs of two sizes, each log on a stack of its own: the time of each by the size of the log, what it does to
 * redirects, and the memory that it needs.
 */
export async function benchOperations({ onStep = () => {} }: Options = {}): Promise<BenchRow[]> {
  const measured: Measured[] = [];
  for (const scans of sizesIn(process.env['SCANLOG_BENCH_SIZES'] ?? defaultSizes)) {
    const stack = await startBenchStack(new Date(Date.now() - periodMs));
    try {
      measured.push(await measureSize(stack, scans, onStep));
    } finally {
      await stack.stop();
    }
  }
  const [small, large] = measured as [Measured, Measured];
  return operations.flatMap((operation, i) => rowsOf(operation, i, small, large));
}

function sizesIn(text: string): [number, number] {
  const [small = 0, large = 0, ...others] = text.split(',').map(Number);
  const areValid = [small, large].every((size) => Number.isInteger(size) && size >= 10 * eventsOfReader);
  if (areValid && small < large && others.length === 0) return [small, large];
  throw new StartError(
    `SCANLOG_BENCH_SIZES must be two numbers of scans such as ${defaultSizes}, the first from ${10 * eventsOfReader} on.`,
  );
}

async function measureSize(stack: BenchStack, scans: number, onStep: OnStep): Promise<Measured> {
  const world = await fillWorld(stack, scans, onStep);
  const receiver = await startPeer('webhook-receiver.ts', { NICENESS: '19', LEAVES_FIRST_CPU: '1' });
  try {
    const service = await stack.serve({
      settings: {
        // As `up` has it, which runs all servers on one machine, too.
        EDGE_DURABILITY: 'disk',
        WEBHOOK_ALLOW_HTTP: 'true',
        WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
      },
    });
    const site = new Site(world, service, receiver.port);
    const [results, alone]: [Result[], number[]] = [[], []];
    for (const operation of operations) {
      onStep(`${operation.name}, ${millions(scans)} scans`);
      alone.push(await site.redirectP99(() => Bun.sleep(aloneMs)));
      const result = await site.measure(operation);
      const { miss, redirectP99, peak } = result;
      // Of a run that is interrupted, this is what is left.
      onStep(`  ${miss ?? ms(result.ms)}, redirect p99 ${ms(redirectP99)}, ${peakText(peak)}`);
      results.push(result);
    }
    return { scans, results, aloneP99: median(alone) };
  } finally {
    await receiver.stop();
  }
}

/** A service on a filled log, and the processes that work for it. */
class Site {
  readonly #world: World;
  readonly #commands: Commands;
  readonly #service: { port: number; pid: number };
  readonly #receiverPort: number;
  readonly #limitMs: number;
  /** Then the memory of ClickHouse is that of its data, not of an operation. */
  readonly #isWarehouseInMemory = selectedEngines()[0] === 'wasm';

  constructor(world: World, service: { port: number; pid: number }, receiverPort: number) {
    this.#world = world;
    this.#commands = new Commands(world.stack);
    this.#service = service;
    this.#receiverPort = receiverPort;
    this.#limitMs = limitMs(world.scans);
  }

  async measure(operation: Operation): Promise<Result> {
    await this.#world.stack.sql`UPDATE rate_windows SET used = 0`;
    const memory = watchMemory(() => this.#processes());
    const performed = Promise.withResolvers<Pick<Result, 'ms' | 'miss'>>();
    const redirectP99 = await this.redirectP99(() => {
      performed.resolve(this.#perform(operation));
      return Promise.all([performed.promise, Bun.sleep(measureMs)]);
    });
    const { ms: took, miss } = await performed.promise;
    return { ms: took, miss, redirectP99, peak: memory.stop() };
  }

  /** The p99 of redirects while `work` lasts. */
  async redirectP99(work: () => Promise<unknown>): Promise<number> {
    const link = `http://127.0.0.1:${this.#service.port}/${this.#world.stack.code.short_code}`;
    // Ends by itself if this process is interrupted.
    const seconds = Math.ceil(this.#limitMs / 1000) + 60;
    const load = startLoad(link, { connections: 16, seconds, rate: redirectsPerSecond });
    await work();
    return (await load.stop()).p99;
  }

  async #perform(operation: Operation): Promise<Pick<Result, 'ms' | 'miss'>> {
    const signal = AbortSignal.timeout(this.#limitMs);
    const running: RunningWorld = Object.assign({}, this.#world, {
      url: `http://127.0.0.1:${this.#service.port}`,
      receiver: `http://127.0.0.1:${this.#receiverPort}`,
      run: (args: string[], environment?: Record<string, string>) => this.#commands.run(args, signal, environment),
      signal,
    });
    try {
      return { ms: await medianMs(operation, running), miss: undefined };
    } catch (error) {
      const miss = signal.aborted ? `not within ${Math.round(this.#limitMs / 1000)} s` : `failed: ${messageOf(error)}`;
      return { ms: Number.NaN, miss };
    }
  }

  #processes(): { name: string; pid: number }[] {
    const parts = this.#world.stack.parts.flatMap(({ name, pid }) => {
      const id = pid();
      return id === undefined || (name === 'clickhouse' && this.#isWarehouseInMemory) ? [] : [{ name, pid: id }];
    });
    return [{ name: 'service', pid: this.#service.pid }, ...parts, ...this.#commands.running];
  }
}

/** The median of as many repetitions as take a few seconds, or the only time. */
async function medianMs({ isRepeatable, perform }: Operation, world: RunningWorld): Promise<number> {
  const times: number[] = [];
  const started = performance.now();
  do {
    const before = performance.now();
    await perform(world);
    times.push(performance.now() - before);
  } while (isRepeatable && times.length < maxRepetitions && performance.now() - started < measureMs);
  return median(times);
}

/** Commands of `./scanlog` and scripts, in processes of their own. */
class Commands {
  readonly #environment: Record<string, string>;
  readonly #running = new Map<number, string>();

  constructor({ environment, folder }: BenchStack) {
    this.#environment = Object.assign({}, environment, { TMPDIR: folder });
  }

  get running(): { name: string; pid: number }[] {
    return [...this.#running].map(([pid, name]) => ({ name, pid }));
  }

  async run(args: string[], signal: AbortSignal, environment: Record<string, string> = {}): Promise<void> {
    const isScript = args[0]?.endsWith('.ts') === true;
    const command = isScript ? args : [join(import.meta.dir, '../src/cli.ts'), ...args];
    const child = Bun.spawn([process.execPath, ...command], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: Object.assign({}, process.env, this.#environment, environment),
      signal,
    });
    this.#running.set(child.pid, isScript ? 'script' : 'command');
    const errors = await new Response(child.stderr).text();
    const status = await child.exited;
    this.#running.delete(child.pid);
    signal.throwIfAborted();
    // Without the lines of a stack.
    const messages = errors.split('\n').filter((line) => /^\S/.test(line));
    if (status !== 0) throw new Error(messages.at(-1) ?? `exit code ${status}`);
  }
}

const peakText = ({ megabytes, process }: Peak) => `${Math.round(megabytes)} MB (${process})`;

const millions = (scans: number) => `${scans / 1e6} M`;

function rowsOf({ name, follows }: Operation, i: number, small: Measured, large: Measured): BenchRow[] {
  const [inSmall, inLarge] = [small.results[i] as Result, large.results[i] as Result];
  const isPerScan = follows === 'log';
  const cost = (result: Result, { scans }: Measured) => (isPerScan ? (result.ms / scans) * 1e6 : result.ms);
  const shown = (result: Result, at: Measured) => result.miss ?? ms(cost(result, at));
  const worst = large.aloneP99 * inSmall.redirectP99 > small.aloneP99 * inLarge.redirectP99 ? small : large;
  const p99 = (worst === small ? inSmall : inLarge).redirectP99;
  const peak = inSmall.peak.megabytes > inLarge.peak.megabytes ? inSmall.peak : inLarge.peak;
  const isMissed = inSmall.miss !== undefined || inLarge.miss !== undefined;
  return [
    boundedRow(
      {
        what: `${name}: ${isPerScan ? 'time per million scans' : 'time'}, ${millions(large.scans)} scans`,
        figure: shown(inLarge, large),
        against: `${millions(small.scans)} scans: ${shown(inSmall, small)}`,
        ratio: isMissed ? null : cost(inLarge, large) / cost(inSmall, small),
      },
      { target: 1.3, goal: 1.1, kind: 'max', unit: ' ×' },
    ),
    boundedRow(
      {
        what: `${name}: redirect p99 beside it at ${redirectsPerSecond}/s`,
        figure: ms(p99),
        against: `alone: ${ms(worst.aloneP99)}`,
        ratio: p99 / worst.aloneP99,
      },
      { target: 2, goal: 1.2, kind: 'max', unit: ' ×' },
    ),
    boundedRow(
      {
        what: `${name}: peak memory of a process`,
        figure: peakText(peak),
        against: '–',
        ratio: null,
        value: peak.megabytes,
      },
      { target: 500, goal: 250, kind: 'max', unit: ' MB' },
    ),
  ];
}
