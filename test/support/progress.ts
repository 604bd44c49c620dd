import { writeFileSync } from 'node:fs';
import type { UserConsoleLog } from 'vitest';
import type { Reporter, TestModule, TestSpecification, Vitest } from 'vitest/node';
import type { Failure, Report } from '../../src/cli/test/report.ts';
import { secondsOf } from './durations.ts';
import { secondsLeft } from './time-left.ts';

/** Without a terminal, a line this often. */
const lineEveryMs = 15_000;
const maxSlowFiles = 10;

/** Where the report goes, for `./scanlog test`. */
const reportFile = process.env['SCANLOG_TEST_REPORT'];

/**
 * One line of progress, updated on a terminal and repeated elsewhere: files done, failures so far, time left. At the end the
 * failures, then the slowest files.
 */
export class Progress implements Reporter {
  #vitest: Vitest | undefined;
  #startedAt = 0;
  #paths: string[] = [];
  /** When each file began, and how many seconds those that have ended took. */
  readonly #begunAt = new Map<string, number>();
  readonly #tookSeconds = new Map<string, number>();
  #failed = 0;
  #ticking: NodeJS.Timeout | undefined;
  readonly #out = process.stdout;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#startedAt = performance.now();
    this.#paths = specifications.map(({ moduleId }) => moduleId);
    this.#print(`order: seed ${this.#vitest?.config.sequence.seed}`);
    this.#ticking = setInterval(() => this.#show(), this.#out.isTTY ? 500 : lineEveryMs);
  }

  onUserConsoleLog({ content }: UserConsoleLog): void {
    this.#print(content.trimEnd());
  }

  onTestModuleQueued({ moduleId }: TestModule): void {
    this.#begunAt.set(moduleId, performance.now());
  }

  onTestModuleEnd(file: TestModule): void {
    this.#tookSeconds.set(file.moduleId, secondsSince(this.#begunAt.get(file.moduleId)));
    const failures = failuresOf(file);
    this.#failed += failures.length;
    for (const { test, message } of failures) this.#print(`✗ ${test}: ${message}`);
    if (this.#out.isTTY) this.#show();
  }

  onTestRunEnd(files: readonly TestModule[], unhandled: readonly unknown[]): void {
    clearInterval(this.#ticking);
    this.#print('');
    for (const file of files) this.#printErrors(file);
    if (unhandled.length > 0) this.#vitest?.logger.printUnhandledErrors(unhandled);
    this.#print(`Slowest files:\n${slowest(files).join('\n')}`);
    const outside = unhandled.map((error) => ({ test: 'outside of tests', message: firstLine(error) }));
    const report: Report = {
      passed: files.reduce((sum, file) => sum + count(file.children.allTests('passed')), 0),
      failures: [...files.flatMap(failuresOf), ...outside],
    };
    if (reportFile !== undefined) writeFileSync(reportFile, JSON.stringify(report));
  }

  #show(): void {
    const [done, begun] = [this.#tookSeconds.size, this.#begunAt.size];
    const failed = this.#failed === 0 ? 'none failed' : `${this.#failed} failed`;
    const left = `about ${duration(this.#secondsLeft())} left`;
    const files = `${done} of ${this.#paths.length} files done, ${begun - done} running`;
    const line = `${files}, ${failed}, ${duration(secondsSince(this.#startedAt))}, ${left}`;
    this.#out.write(this.#out.isTTY ? `\r${line}\x1b[K` : `${line}\n`);
  }

  #secondsLeft(): number {
    const files = this.#paths.map((path) => {
      const begunAt = this.#begunAt.get(path);
      const took = this.#tookSeconds.get(path);
      const ranSeconds = took ?? (begunAt === undefined ? undefined : secondsSince(begunAt));
      return { expectedSeconds: secondsOf(path), ranSeconds, isDone: took !== undefined };
    });
    return secondsLeft(files, Number(this.#vitest?.config.maxWorkers ?? 1));
  }

  #print(text: string): void {
    this.#out.write(this.#out.isTTY ? `\r\x1b[K${text}\n` : `${text}\n`);
  }

  #printErrors(file: TestModule): void {
    const { project } = file;
    for (const { name, errors } of failed(file)) {
      this.#vitest?.logger.error(`\n✗ ${name}`);
      for (const error of errors) this.#vitest?.logger.printError(error, { project });
    }
  }
}

const count = (items: Iterable<unknown>) => [...items].length;

const secondsSince = (begunAt = performance.now()) => (performance.now() - begunAt) / 1000;

function duration(exact: number): string {
  const seconds = Math.round(exact);
  return seconds < 90 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** The failed tests of a file, and the file or a group of its tests if a hook failed. */
function* failed(file: TestModule) {
  if (file.errors().length > 0) yield { name: file.relativeModuleId, errors: file.errors() };
  for (const suite of file.children.allSuites())
    if (suite.errors().length > 0)
      yield { name: `${file.relativeModuleId} > ${suite.fullName}`, errors: suite.errors() };
  for (const test of file.children.allTests('failed'))
    yield { name: `${file.relativeModuleId} > ${test.fullName}`, errors: test.result().errors ?? [] };
}

const failuresOf = (file: TestModule): Failure[] =>
  [...failed(file)].map(({ name, errors: [first] }) => ({ test: name, message: firstLine(first) }));

function firstLine(error: unknown): string {
  const message =
    typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error);
  return message.split('\n', 1)[0] ?? '';
}

const slowest = (files: readonly TestModule[]): string[] =>
  files
    .map((file) => ({ file: file.relativeModuleId, seconds: file.diagnostic().duration / 1000 }))
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, maxSlowFiles)
    .map(({ file, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${file}`);
