import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import type { DataDirectory } from './data-directory.ts';
import { end, endLeftover, isAlive, markOf, until, writeMark } from './processes.ts';

export interface Launch {
  command: string;
  args: string[];
  env?: NodeJS.ProcessEnv;
  cwd?: string;
}

/** How one part of the stack is run. */
export interface PartPlan {
  name: 'postgres' | 'nats' | `nats-${number}` | 'clickhouse';
  /** Made anew for each start, once everything before it is done. */
  launch(): Launch | Promise<Launch>;
  answers(): Promise<boolean>;
  stopSignal: NodeJS.Signals;
}

export interface Part {
  name: PartPlan['name'];
  pid(): number | undefined;
  stop(): Promise<void>;
}

const startWithinMs = 90_000;
const backOffMs = { first: 200, most: 10_000, forgivenAfter: 30_000 };

/** Starts a part, waits until it answers, and from then on starts it again whenever it dies. */
export async function startPart(
  plan: PartPlan,
  { data, log, signal }: { data: DataDirectory; log: Logger; signal?: AbortSignal | undefined },
): Promise<Part> {
  const pidFile = join(data.run, `${plan.name}.pid`);
  const logFile = join(data.logs, `${plan.name}.log`);
  await endLeftover(pidFile, plan.stopSignal);

  let child: ChildProcess | undefined;
  let stopping = false;
  let backOff = backOffMs.first;

  async function start(): Promise<void> {
    const { command, args, env = process.env, cwd } = await plan.launch();
    const output = openSync(logFile, 'a', 0o600);
    // A session of its own: Ctrl-C is for us to hear, and the parts stop in order, after the service.
    // The open pipe on stdin lets a part notice that we are gone.
    const started = spawn(command, args, { detached: true, stdio: ['pipe', output, output], env, cwd });
    closeSync(output);
    child = started;
    let failure: Error | undefined;
    started.once('error', (error) => {
      failure = error;
    });
    const ended = () => failure !== undefined || started.exitCode !== null || started.signalCode !== null;
    if (started.pid !== undefined) writeMark(pidFile, started.pid);
    const over = () => stopping || signal?.aborted === true || ended();
    const ready = await until(async () => over() || (await plan.answers()), startWithinMs);
    if (stopping) return;
    if (signal?.aborted) {
      if (started.pid !== undefined) await end(markOf(started.pid), plan.stopSignal, 5_000);
      throw new StartError('The start was interrupted.');
    }
    if (ended() || !ready) {
      if (!ended() && started.pid !== undefined) await end(markOf(started.pid), 'SIGKILL', 0);
      throw new StartError(`${plan.name} did not start: ${failure?.message ?? lastLine(logFile)} (see ${logFile})`);
    }
    const startedAt = performance.now();
    started.once('exit', (code, signal) => {
      if (stopping) return;
      if (performance.now() - startedAt > backOffMs.forgivenAfter) backOff = backOffMs.first;
      log.warn({ part: plan.name, code, signal, again_in_ms: backOff }, 'part ended, starting it again');
      setTimeout(restart, backOff);
      backOff = Math.min(backOff * 2, backOffMs.most);
    });
  }

  async function restart(): Promise<void> {
    if (stopping) return;
    try {
      await start();
      if (!stopping) log.info({ part: plan.name }, 'part answers again');
    } catch (error) {
      log.error({ part: plan.name, error: String(error), again_in_ms: backOff }, 'part did not start');
      setTimeout(restart, backOff);
      backOff = Math.min(backOff * 2, backOffMs.most);
    }
  }

  await start();
  return {
    name: plan.name,
    pid: () => child?.pid,
    async stop() {
      stopping = true;
      if (child?.pid !== undefined) {
        const mark = markOf(child.pid);
        if (isAlive(mark)) await end(mark, plan.stopSignal, 10_000);
      }
      await endLeftover(pidFile, plan.stopSignal);
    },
  };
}

function lastLine(file: string): string {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.at(-1) || 'it said nothing';
}
