import { rmSync } from 'node:fs';
import type { Logger } from '../../src/lib/logger.ts';
import type { DataDirectory } from '../../src/stack/data-directory.ts';
import { type PartPlan, startPart } from '../../src/stack/part.ts';
import { isAlive, markOf, until } from '../../src/stack/processes.ts';

/** A process of the stack that tests can kill and freeze. */
export interface BreakablePart {
  /** `kill -9`. The supervisor does not restart it before `restart` is called. */
  kill(): Promise<void>;
  /** Resolves once it answers. */
  restart(): Promise<void>;
  /** SIGSTOP: connections stay open, nothing is answered until `resume`. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
  /** Stops supervising a killed process, so that it is never restarted. */
  discard(): Promise<void>;
}

const restartTimeoutMs = 60_000;

export async function startBreakable(plan: PartPlan, data: DataDirectory, log: Logger): Promise<BreakablePart> {
  let startAllowed = Promise.resolve();
  let allowStart = () => {};
  const gated: PartPlan = {
    ...plan,
    async launch() {
      await startAllowed;
      return plan.launch();
    },
  };
  const part = await startPart(gated, { data, log });
  const pid = () => {
    const id = part.pid();
    if (id === undefined) throw new Error(`${plan.name} is not running`);
    return id;
  };
  return {
    async kill() {
      startAllowed = new Promise((resolve) => {
        allowStart = resolve;
      });
      const mark = markOf(pid());
      process.kill(mark.pid, 'SIGKILL');
      await until(() => !isAlive(mark), restartTimeoutMs);
    },
    async restart() {
      allowStart();
      if (!(await until(plan.answers, restartTimeoutMs)))
        throw new Error(`${plan.name} did not answer within ${restartTimeoutMs} ms after its restart`);
    },
    pause: () => void process.kill(pid(), 'SIGSTOP'),
    resume: () => void process.kill(pid(), 'SIGCONT'),
    async stop() {
      allowStart();
      await part.stop();
    },
    discard: () => part.stop(),
  };
}

/** Simulates a lost disk. Call it only while the process is killed. */
export const deleteStorage = (folder: string) => rmSync(folder, { recursive: true, force: true });
