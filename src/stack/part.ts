import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { backoff } from '../lib/backoff.ts';
import { StartError } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import { timeouts } from '../lib/timeouts.ts';
import type { DataDirectory } from './data-directory.ts';
import { freePort, isAlive, isFree, markOf, stopLeftover, stopProcess, until, writeMark } from './processes.ts';

export interface Launch {
  command: string;
  args: string[];
  env?: NodeJS.ProcessEnv;
  cwd?: string;
}

/** How to run one server of the embedded stack. */
export interface PartPlan {
  name: 'postgres' | 'nats' | `nats-${number}` | 'clickhouse';
  /** Called before each start and restart. */
  launch(): Launch | Promise<Launch>;
  /** Whether this server answers, and not another one on its port. */
  answers(): Promise<boolean>;
  stopSignal: NodeJS.Signals;
}

export interface Part {
  name: PartPlan['name'];
  /** Undefined while it does not run. */
  pid(): number | undefined;
  stop(): Promise<void>;
}

interface PartOptions {
  data: DataDirectory;
  log: Logger;
  signal?: AbortSignal | undefined;
}

/** Starts a server, waits until it answers, and from then on restarts it whenever it exits. */
export async function startPart(plan: PartPlan, options: PartOptions): Promise<Part> {
  const part = new SupervisedPart(plan, options);
  await part.start();
  return { name: plan.name, pid: () => part.pid, stop: () => part.stop() };
}

/** A server that listens on a port of loopback. */
export interface ListeningPart extends Part {
  port: number;
}

const maxPorts = 5;

/** Starts a server on a free port, and on another one if that is taken before the server listens. */
export async function startOnFreePort(
  planFor: (port: number) => PartPlan,
  options: PartOptions,
  choosePort: () => Promise<number> = freePort,
): Promise<ListeningPart> {
  for (let attempt = 1; ; attempt++) {
    const port = await choosePort();
    try {
      const { name, pid, stop } = await startPart(planFor(port), options);
      return { name, pid, stop, port };
    } catch (error) {
      if (attempt === maxPorts || (await isFree(port))) throw error;
    }
  }
}

class SupervisedPart {
  readonly #plan: PartPlan;
  readonly #log: Logger;
  readonly #signal: AbortSignal | undefined;
  readonly #pidFile: string;
  readonly #logFile: string;
  #child: ChildProcess | undefined;
  #stopping = false;
  readonly #restarts = backoff({ firstMs: 200, maxMs: 10_000, resetAfterMs: 30_000 });

  constructor(plan: PartPlan, { data, log, signal }: PartOptions) {
    this.#plan = plan;
    this.#log = log;
    this.#signal = signal;
    this.#pidFile = join(data.run, `${plan.name}.pid`);
    this.#logFile = join(data.logs, `${plan.name}.log`);
  }

  get pid(): number | undefined {
    const child = this.#child;
    return child?.exitCode === null && child.signalCode === null ? child.pid : undefined;
  }

  async start(): Promise<void> {
    await stopLeftover(this.#pidFile, this.#plan.stopSignal);
    await this.#launch();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    if (this.pid !== undefined) {
      const mark = markOf(this.pid);
      if (isAlive(mark)) await stopProcess(mark, this.#plan.stopSignal, timeouts.partStopMs);
    }
    await stopLeftover(this.#pidFile, this.#plan.stopSignal);
  }

  async #launch(): Promise<void> {
    const { name, stopSignal } = this.#plan;
    const child = this.#spawn(await this.#plan.launch());
    let failure: Error | undefined;
    const ended = new Promise<false>((resolve) => {
      child.once('exit', () => resolve(false));
      child.once('error', (error) => {
        failure = error;
        resolve(false);
      });
    });
    const hasExited = () => failure !== undefined || child.exitCode !== null || child.signalCode !== null;
    const isOver = () => this.#stopping || this.#signal?.aborted === true || hasExited();
    // A foreign server on the port may never answer, which must not hide that this one has ended.
    const answers = () => Promise.race([this.#plan.answers(), ended]);
    const ready = await until(async () => isOver() || (await answers()), timeouts.partStartMs);
    if (this.#stopping) return;
    if (this.#signal?.aborted) {
      if (child.pid !== undefined) await stopProcess(markOf(child.pid), stopSignal, timeouts.partStopMs);
      throw new StartError('The start was interrupted.');
    }
    if (hasExited() || !ready) {
      if (!hasExited() && child.pid !== undefined) await stopProcess(markOf(child.pid), 'SIGKILL', 0);
      throw new StartError(
        `${name} did not start: ${failure?.message ?? lastLine(this.#logFile)} (see ${this.#logFile})`,
      );
    }
    const readyAt = performance.now();
    child.once('exit', (code, signal) => {
      if (this.#stopping) return;
      const delayMs = this.#restarts.nextMs(performance.now() - readyAt);
      this.#log.warn({ part: name, code, signal, again_in_ms: delayMs }, 'an embedded server exited and is restarted');
      setTimeout(() => void this.#restart(), delayMs);
    });
  }

  #spawn({ command, args, env = process.env, cwd }: Launch): ChildProcess {
    const output = openSync(this.#logFile, 'a', 0o600);
    // In its own session: Ctrl-C must reach only this process, which stops the servers after the service.
    // A server notices by the open pipe on stdin that this process is gone.
    const child = spawn(command, args, { detached: true, stdio: ['pipe', output, output], env, cwd });
    closeSync(output);
    this.#child = child;
    if (child.pid !== undefined) writeMark(this.#pidFile, child.pid);
    return child;
  }

  async #restart(): Promise<void> {
    if (this.#stopping) return;
    const part = this.#plan.name;
    try {
      await this.#launch();
      if (!this.#stopping) this.#log.info({ part }, 'the embedded server answers again');
    } catch (error) {
      const delayMs = this.#restarts.nextMs(0);
      this.#log.error(
        { part, error: String(error), again_in_ms: delayMs },
        'an embedded server did not start and is retried',
      );
      setTimeout(() => void this.#restart(), delayMs);
    }
  }
}

function lastLine(file: string): string {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.at(-1) || 'it printed nothing';
}
