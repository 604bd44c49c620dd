import { counted, table } from '../terminal.ts';

export interface Failure {
  /** File and name of the test. */
  test: string;
  /** The first line of its error. */
  message: string;
}

/** What one run of the tests reports. */
export interface Report {
  passed: number;
  failures: Failure[];
}

/** A table of every test that failed in one of several runs, the most frequent first. */
export function failureTable(runs: Report[]): string {
  const failures = runs.flatMap((run) => run.failures);
  if (failures.length === 0) return `No test failed in ${counted(runs.length, 'run')}.`;
  const byTest = [...Map.groupBy(failures, ({ test }) => test)].toSorted(([, a], [, b]) => b.length - a.length);
  const rows = byTest.map(([test, found]) => {
    const messages = new Set(found.map(({ message }) => message));
    return [`${found.length} of ${runs.length}`, test, [...messages].join(' | ')];
  });
  return table([['failed', 'test', 'message'], ...rows]);
}
