import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statfsSync,
} from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';

/** The variable with the folder in which the servers of a run have their data. */
export const serversVariable = 'SCANLOG_TEST_SERVERS';

/** Folders for all that one run of the tests writes. */
export class RunFolders {
  readonly #temporary = mkdtempSync(join(tmpdir(), 'scanlog-tests-'));
  readonly #servers = makeServersFolder();
  /** Makes a process and those that it starts write there. */
  readonly environment = { TMPDIR: this.#temporary, [serversVariable]: this.#servers };
  /** For the report of the run. */
  readonly report = join(this.#temporary, 'report.json');

  constructor() {
    // As /tmp is: some servers run as another user.
    chmodSync(this.#temporary, 0o1777);
  }

  /** Kills all processes of the run, also those whose parent has ended. What they were writing is removed with the folders. */
  killProcesses(): void {
    const folders = [this.#temporary, this.#servers];
    const variable = `TMPDIR=${this.#temporary}\0`;
    // Servers get an environment of their own, and run in the folder with their data.
    const isOwn = (pid: number) =>
      folders.some((folder) => folderOf(pid).startsWith(folder)) || environmentOf(pid).includes(variable);
    // One that started another meanwhile is gone in the next round.
    while (allProcesses().filter(isOwn).filter(kill).length > 0);
  }

  remove(): void {
    for (const folder of [this.#temporary, this.#servers])
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

const memoryFolder = '/dev/shm';
/** Of memory and of the folder, which is limited to 64 MB in a container by default. */
const minFreeBytes = 6 * 1024 ** 3;

/**
 * Where the servers of a run have their data: in memory, if there is plenty. Each test file has a database of 500 files, and
 * creating and deleting one takes 20 ms of CPU there, but 100 to 700 ms on ext4, which searches for inodes that were not in use lately.
 */
export const makeServersFolder = (): string =>
  mkdtempSync(join(hasSpaceInMemory() ? memoryFolder : tmpdir(), 'scanlog-test-'));

function hasSpaceInMemory(): boolean {
  if (!existsSync(memoryFolder)) return false;
  const stats = statfsSync(memoryFolder);
  return Math.min(stats.bavail * stats.bsize, freemem()) >= minFreeBytes;
}

/** None where there is no /proc. */
function allProcesses(): number[] {
  const names = existsSync('/proc') ? readdirSync('/proc') : [];
  return names.filter((name) => /^\d+$/.test(name)).map(Number);
}

const environmentOf = (pid: number) => ofProcess(() => readFileSync(`/proc/${pid}/environ`, 'latin1'));
const folderOf = (pid: number) => ofProcess(() => readlinkSync(`/proc/${pid}/cwd`));

/** Empty if the process has ended, or is another user's. */
function ofProcess(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}

function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}
