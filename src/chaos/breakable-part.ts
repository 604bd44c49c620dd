import { rmSync } from 'node:fs';
import type { Logger } from '../lib/logger.ts';
import type { DataDirectory } from '../stack/data-directory.ts';
import { type PartPlan, startPart } from '../stack/part.ts';
import { isAlive, markOf, until } from '../stack/processes.ts';

/** A part of the stack that can be broken. */
export interface BreakablePart {
  /** `kill -9`. Nobody starts it again before `comeBack`. */
  kill(): Promise<void>;
  /** Resolves when it answers. */
  comeBack(): Promise<void>;
  /** Stands still, its connections open, until `resume`. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
  /** Makes `kill` final: it is never started again. */
  discard(): Promise<void>;
}

const backWithinMs = 60_000;

export async function startBreakable(plan: PartPlan, data: DataDirectory, log: Logger): Promise<BreakablePart> {
  let mayStart = Promise.resolve();
  let open = () => {};
  const gated: PartPlan = {
    ...plan,
    async launch() {
      await mayStart;
      return plan.launch();
    },
  };
  const part = await startPart(gated, { data, log });
  const pid = () => {
    const id = part.pid();
    if (id === undefined) throw new Error(`${plan.name} does not run`);
    return id;
  };
  return {
    async kill() {
      mayStart = new Promise((resolve) => {
        open = resolve;
      });
      const mark = markOf(pid());
      process.kill(mark.pid, 'SIGKILL');
      await until(() => !isAlive(mark), backWithinMs);
    },
    async comeBack() {
      open();
      if (!(await until(plan.answers, backWithinMs))) throw new Error(`${plan.name} did not come back`);
    },
    pause: () => void process.kill(pid(), 'SIGSTOP'),
    resume: () => void process.kill(pid(), 'SIGCONT'),
    async stop() {
      open();
      await part.stop();
    },
    discard: () => part.stop(),
  };
}

/** What a disk that was lost looks like. Only while the part is killed. */
export const loseStorage = (folder: string) => rmSync(folder, { recursive: true, force: true });
