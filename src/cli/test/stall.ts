import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from '../../lib/errors.ts';

const stoppedMs = 300;
const runningMs = 300;

/**
 * Stops a process and all its descendants for 300 of every 600 ms, as a slow hour of a shared machine does. A process that
 * a test has stopped itself stays stopped.
 */
export class Stalls {
  readonly #root: number;
  /** Descendants by id, with their start time: one whose parent has ended is recognized by it. */
  #known = new Map<number, string>();
  /** The processes that are stopped now. */
  #stopped: number[] = [];
  #isEnding = false;
  readonly #running: Promise<void>;

  constructor(root: number) {
    if (process.platform !== 'linux') throw new StartError('--stall needs Linux: it finds processes in /proc.');
    this.#root = root;
    this.#running = this.#run();
  }

  /** Resolves when all processes run again. */
  async end(): Promise<void> {
    this.#isEnding = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isEnding) {
      this.#stopped = this.#descendants().filter((pid) => send(pid, 'SIGSTOP'));
      await sleep(stoppedMs);
      this.#resume();
      await sleep(runningMs);
    }
  }

  #resume(): void {
    for (const pid of this.#stopped.splice(0)) send(pid, 'SIGCONT');
  }

  /** The processes of the run that are not stopped already. */
  #descendants(): number[] {
    const processes = new Map(readProcesses().map((found) => [found.pid, found]));
    const isOurs = ({ pid, parent, startedAt }: Found): boolean =>
      pid === this.#root || this.#known.get(pid) === startedAt || isOursByParent(processes.get(parent));
    const isOursByParent = (parent: Found | undefined): boolean => parent !== undefined && isOurs(parent);
    const ours = [...processes.values()].filter(isOurs);
    this.#known = new Map(ours.map(({ pid, startedAt }) => [pid, startedAt]));
    return ours.filter(({ state }) => state !== 'T').map(({ pid }) => pid);
  }
}

interface Found {
  pid: number;
  parent: number;
  state: string;
  startedAt: string;
}

function readProcesses(): Found[] {
  const found: Found[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      // The name of the program, in parentheses, may contain spaces.
      const fields = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
      found.push({
        pid: Number(name),
        state: fields[0] ?? '',
        parent: Number(fields[1]),
        startedAt: fields[19] ?? '',
      });
    } catch {
      // It has ended meanwhile.
    }
  }
  return found;
}

function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
