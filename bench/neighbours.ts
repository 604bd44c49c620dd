import { StartError } from '../src/lib/errors.ts';
import { childrenOf, freePort } from '../src/stack/processes.ts';
import { type BenchStack, script, startLoad, startPeer } from './bench-stack.ts';
import { attackNames } from './neighbours-attacks.ts';
import {
  type Attacker,
  createAttacker,
  createProbed,
  type Probed,
  type ProbeKind,
  type ProbeResult,
  probeKinds,
} from './neighbours-world.ts';
import { unsharedMemory } from './process.ts';
import { type BenchRow, boundedRow, median, ms } from './row.ts';

const defaultSeconds = 15;
const redirectsPerSecond = 200;
const settleMs = 2_000;
const sampleMs = 100;
/** Scans of the attacker, and codes that it reverts. */
const size = { scans: 100_000, revertedCodes: 5_000 };
const bounds = { target: 2, goal: 1.2, kind: 'max', unit: ' ×' } as const;

type OnStep = (step: string) => void;
type Kind = ProbeKind | 'redirect' | 'webhook';
const kinds: Kind[] = ['redirect', ...probeKinds, 'webhook'];

/** What the other account saw in one phase. */
interface Phase {
  /** The p99 of each kind of request, in ms. */
  p99: Record<Kind, number>;
  /** All durations of the probes, for a p99 over several phases. */
  times: Record<ProbeKind, number[]>;
  failures: string[];
  /** Of the process that answers and of each that it has started, in MB, when they took most together. */
  memory: { service: number; others: number[] };
}

/**
 * One account attacks in every way that is known, one after the other and all at once. Meanwhile another account is used as
 * usual, and compared with itself before each attack.
 */
export async function benchNeighbours(
  stack: BenchStack,
  { onStep = () => {} }: { onStep?: OnStep } = {},
): Promise<BenchRow[]> {
  const seconds = secondsIn(process.env['SCANLOG_BENCH_SECONDS'] ?? String(defaultSeconds));
  const [receiver, fast, endless] = await Promise.all([
    startPeer('webhook-receiver.ts'),
    startPeer('webhook-receiver.ts', { NICENESS: '19', LEAVES_FIRST_CPU: '1' }),
    startPeer('hostile-receiver.ts'),
  ]);
  try {
    const metricsPort = await freePort();
    const service = await stack.serve({
      settings: {
        // As with ./scanlog up: with `log`, redirects wait for commits, too.
        EDGE_DURABILITY: process.env['EDGE_DURABILITY'] ?? 'disk',
        WEBHOOK_ALLOW_HTTP: 'true',
        WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
        METRICS_PORT: String(metricsPort),
      },
    });
    const at = (port: number) => `http://127.0.0.1:${port}`;
    onStep('two accounts, their codes and scans');
    const probed = await createProbed(stack, at(service.port), `${at(receiver.port)}/hook`);
    const attacker = await createAttacker(
      stack,
      at(service.port),
      { fast: at(fast.port), endless: at(endless.port) },
      size,
    );
    const site = new Site(stack, probed, attacker, service.pid, at(receiver.port));
    return await measureAll(site, seconds, () => longestHoldMs(metricsPort), onStep);
  } finally {
    await Promise.all([receiver.stop(), fast.stop(), endless.stop()]);
  }
}

function secondsIn(text: string): number {
  const seconds = Number(text);
  if (Number.isFinite(seconds) && seconds >= 2 && seconds <= 60) return seconds;
  throw new StartError(`SCANLOG_BENCH_SECONDS must be a number of seconds from 2 to 60, such as ${defaultSeconds}.`);
}

async function measureAll(
  site: Site,
  seconds: number,
  readHold: () => Promise<number>,
  onStep: OnStep,
): Promise<BenchRow[]> {
  onStep('warm-up');
  const { memory } = await site.phase(seconds);
  onStep(`  MB, service and its processes: ${text(memory)}; lock ${ms(await readHold())}`);
  const alone: Phase[] = [];
  const attacked: { name: string; phase: Phase }[] = [];
  let hold = 0;
  for (const name of attackNames) {
    onStep(name);
    alone.push(await site.phase(seconds / 2));
    const { phase, responses } = await site.attackedPhase(name, seconds);
    attacked.push({ name, phase });
    hold = Math.max(hold, await readHold());
    // Of a run that is interrupted, this is what is left.
    onStep(`  responses ${JSON.stringify(responses)}`);
    onStep(`  p99 in ms, alone → attacked: ${describe(alone.at(-1) as Phase, phase)}`);
    onStep(`  MB, service and its processes: ${text(alone.at(-1)?.memory)} → ${text(phase.memory)}; lock ${ms(hold)}`);
    for (const failure of new Set(phase.failures)) onStep(`  failed: ${failure}`);
    await Bun.sleep(settleMs);
  }
  return [...latencyRows(alone, attacked), memoryRow(alone, attacked), holdRow(hold)];
}

const text = (memory: Phase['memory'] | undefined) =>
  memory === undefined ? '–' : [memory.service, ...memory.others].map(Math.round).join(' + ');

const total = ({ service, others }: Phase['memory']) => others.reduce((sum, one) => sum + one, service);

const describe = (alone: Phase, attacked: Phase): string =>
  kinds.map((kind) => `${kind} ${Math.round(alone.p99[kind])} → ${Math.round(attacked.p99[kind])}`).join(', ');

/** Redirects beside each attack; of every other kind of request, the attack that delays it most. */
function latencyRows(alone: Phase[], attacked: { name: string; phase: Phase }[]): BenchRow[] {
  const before = (kind: Kind): number => {
    if (kind === 'redirect' || kind === 'webhook') return median(alone.map(({ p99 }) => p99[kind]));
    return p99Of(alone.flatMap(({ times }) => times[kind]));
  };
  const row = (kind: Kind, { name, phase }: { name: string; phase: Phase }) => {
    const failed = phase.failures.filter((failure) => failure.startsWith(kind)).length;
    const measurement = {
      what: `${kind} p99 of another account beside ${name}`,
      figure: `${ms(phase.p99[kind])}${failed === 0 ? '' : `, ${failed} failed`}`,
      against: `without: ${ms(before(kind))}`,
      ratio: phase.p99[kind] / before(kind),
    };
    return boundedRow(
      failed === 0 ? measurement : Object.assign(measurement, { value: Number.POSITIVE_INFINITY }),
      bounds,
    );
  };
  const worst = (kind: Kind) =>
    attacked.reduce((one, other) => (other.phase.p99[kind] > one.phase.p99[kind] ? other : one));
  return [
    ...attacked.map((one) => row('redirect', one)),
    ...kinds.filter((kind) => kind !== 'redirect').map((kind) => row(kind, worst(kind))),
  ];
}

function memoryRow(alone: Phase[], attacked: { name: string; phase: Phase }[]): BenchRow {
  const idle = total((alone[0] as Phase).memory);
  const above = attacked.map(({ name, phase }) => ({ name, megabytes: total(phase.memory) - idle }));
  const worst = above.reduce((one, other) => (other.megabytes > one.megabytes ? other : one));
  return boundedRow(
    {
      what: `memory of the service with its renderers above that before the attacks, most beside ${worst.name}`,
      figure: `${Math.round(worst.megabytes)} MB`,
      against: `before: ${text(alone[0]?.memory)} MB`,
      ratio: null,
      value: worst.megabytes,
    },
    { target: 250, goal: 100, kind: 'max', unit: ' MB' },
  );
}

const holdRow = (hold: number): BenchRow =>
  boundedRow(
    { what: 'longest hold of the append lock', figure: ms(hold), against: '–', ratio: null, value: hold },
    { target: 20, goal: 5, kind: 'max', unit: ' ms' },
  );

/** The service reports the longest hold of the last one to two minutes. */
async function longestHoldMs(metricsPort: number): Promise<number> {
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  return Number(/^scanlog_append_lock_hold_seconds (\S+)$/m.exec(metrics)?.[1]) * 1_000;
}

const p99Of = (times: number[]): number =>
  [...times].sort((a, b) => a - b)[Math.floor((times.length - 1) * 0.99)] ?? Number.NaN;

/** A service, the account that is measured, and the one that attacks. */
class Site {
  readonly #stack: BenchStack;
  readonly #probed: Probed;
  readonly #attacker: Attacker;
  readonly #pid: number;
  readonly #receiver: string;

  constructor(stack: BenchStack, probed: Probed, attacker: Attacker, pid: number, receiver: string) {
    this.#stack = stack;
    this.#probed = probed;
    this.#attacker = attacker;
    this.#pid = pid;
    this.#receiver = receiver;
  }

  async attackedPhase(attack: string, seconds: number): Promise<{ phase: Phase; responses: Record<string, number> }> {
    await this.#stack.sql`UPDATE rate_windows SET used = 0`;
    const attacking = Bun.spawn([process.execPath, script('neighbours-attack.ts'), attack], {
      stdout: 'pipe',
      detached: true,
      env: { ...process.env, ATTACKER: JSON.stringify(this.#attacker) },
    });
    const phase = await this.phase(seconds);
    attacking.kill();
    const responses = (await new Response(attacking.stdout).json()) as Record<string, number>;
    return { phase, responses };
  }

  /** Uses the measured account for some time. */
  async phase(seconds: number): Promise<Phase> {
    await this.#webhooksSeen();
    const memory = this.#watchMemory();
    const link = `${this.#probed.url}/${this.#stack.code.short_code}`;
    const redirects = startLoad(link, { connections: 16, seconds, rate: redirectsPerSecond });
    const probe = Bun.spawn([process.execPath, script('neighbours-probe.ts')], {
      stdout: 'pipe',
      detached: true,
      env: { ...process.env, PROBED: JSON.stringify(this.#probed) },
    });
    const unlimited = setInterval(() => this.#endWindow().catch(() => {}), 1_000);
    const { p99: redirect, statuses } = await redirects.ended;
    probe.kill();
    const probes = (await new Response(probe.stdout).json()) as Record<ProbeKind, ProbeResult>;
    clearInterval(unlimited);
    const p99 = { redirect, webhook: await this.#webhooksSeen() } as Phase['p99'];
    const times = {} as Phase['times'];
    const failures = Object.entries(statuses).flatMap(([status, count]) =>
      status === '302' ? [] : Array.from({ length: count }, () => `redirect: ${status}`),
    );
    for (const kind of probeKinds) {
      times[kind] = probes[kind].times;
      p99[kind] = p99Of(times[kind]);
      failures.push(...probes[kind].failures.map((failure) => `${kind}: ${failure}`));
    }
    return { p99, times, failures, memory: memory.stop() };
  }

  /** The rate limit of the account is not what is measured. */
  async #endWindow(): Promise<void> {
    await this.#stack.sql`UPDATE rate_windows SET used = 0 WHERE subject = ${`${this.#stack.code.account}/live`}`;
  }

  /** The p99 from a scan to its delivery since the last call. */
  async #webhooksSeen(): Promise<number> {
    return ((await (await fetch(`${this.#receiver}/seen`)).json()) as { p99: number }).p99;
  }

  #watchMemory(): { stop(): Phase['memory'] } {
    let most: Phase['memory'] = { service: 0, others: [] };
    const measure = () => {
      const now = { service: memoryOf(this.#pid), others: childrenOf(this.#pid).map(memoryOf) };
      if (total(now) > total(most)) most = now;
    };
    const timer = setInterval(measure, sampleMs);
    return {
      stop() {
        clearInterval(timer);
        return most;
      },
    };
  }
}

/** 0 if the process has ended, also while its parent has not noticed: then it has no memory to report. */
function memoryOf(pid: number): number {
  try {
    return unsharedMemory(pid) || 0;
  } catch {
    return 0;
  }
}
