/** A test file: how long it takes by the table of durations, and for how long it has run so far. */
interface FileTime {
  expectedSeconds: number;
  /** Undefined until it begins. */
  ranSeconds: number | undefined;
  isDone: boolean;
}

/** How much of a file is believed to be done while it runs: one that takes longer than expected must still end. */
const doneSeconds = ({ expectedSeconds, ranSeconds = 0, isDone }: FileTime) =>
  isDone ? expectedSeconds : Math.min(ranSeconds, expectedSeconds);

/** As many seconds at the expected pace count before the first file has ended, so that one slow file changes little. */
const trustedSeconds = 120;

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);

/**
 * The seconds until all files are done, `workers` at a time: as the table says at the beginning, then by how much longer the
 * files so far have taken than that.
 */
export function secondsLeft(files: FileTime[], workers: number): number {
  const done = sum(files.map(doneSeconds));
  const ran = sum(files.map(({ ranSeconds = 0 }) => ranSeconds));
  const pace = (ran + trustedSeconds) / (done + trustedSeconds);
  const rest = files.map((file) => file.expectedSeconds - doneSeconds(file));
  return pace * Math.max(sum(rest) / workers, ...rest);
}
