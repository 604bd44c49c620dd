import { existsSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { StartError } from '../lib/errors.ts';
import { engineVariable, selectedEngines } from '../stack/clickhouse/engines.ts';
import { findBrowser } from './browser.ts';
import { print } from './terminal.ts';
import { failureTable, type Report } from './test/report.ts';
import { RunFolders } from './test/run-folders.ts';
import { Stalls } from './test/stall.ts';

const root = join(import.meta.dir, '../..');
const modules = join(root, 'node_modules');
const maxRuns = 100;

interface TestOptions {
  repeat: string;
  stall?: boolean;
  seed?: string;
  quick?: boolean;
}

/** Checks types and lint, runs the tests, and prints the totals. */
export async function runTests(filters: string[], options: TestOptions): Promise<void> {
  const times = readNumber('--repeat', options.repeat, 1, maxRuns);
  const seed = options.seed === undefined ? undefined : readNumber('--seed', options.seed, 0, Number.MAX_SAFE_INTEGER);
  // Beside the tests, which leave a fifth of the CPU unused: they wait for each other, for restarts and for timeouts.
  const checking = runChecks();
  const environment = await environmentFor(options);
  const runs: Report[] = [];
  for (let n = 1; n <= times; n++) {
    if (times > 1) print(`\nRun ${n} of ${times}`);
    runs.push(await runOnce(filters, { environment, seed, stall: options.stall === true }));
  }
  if (times > 1) print(`\n${failureTable(runs)}`);
  const checks = await checking;
  const failedChecks = checks.filter(({ passed }) => !passed);
  for (const { output } of failedChecks) print(output);
  const passed = runs.reduce((sum, run) => sum + run.passed, 0);
  const failed = runs.reduce((sum, run) => sum + run.failures.length, 0) + failedChecks.length;
  process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
  print(`${checks.length - failedChecks.length + passed} passed, ${failed} failed`);
}

function readNumber(option: string, text: string, min: number, max: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= min && number <= max) return number;
  throw new StartError(`${option} must be an integer from ${min} to ${max}.`);
}

interface Check {
  passed: boolean;
  /** What the program has printed. */
  output: string;
}

/**
 * Types and lint, side by side, because each of them has phases on one core. What tsc keeps in .tools saves 16 of 20 s of CPU
 * while nothing has changed, and costs nothing in a new checkout.
 */
function runChecks(): Promise<Check[]> {
  const tsc = (project: string, name: string) => [
    ...[join(modules, 'typescript/bin/tsc'), '-p', join(root, project)],
    // Several checkers look at many types more than once.
    ...['--checkers', '1'],
    ...['--incremental', '--tsBuildInfoFile', join(root, `.tools/${name}.tsbuildinfo`)],
  ];
  return Promise.all([
    check('types', tsc('', 'types')),
    check('types of the console', tsc('src/console/app', 'types-of-console')),
    check('lint', [join(modules, '@biomejs/biome/bin/biome'), 'check', root]),
  ]);
}

async function check(name: string, args: string[]): Promise<Check> {
  const started = performance.now();
  const child = Bun.spawn([process.execPath, '--bun', ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    // tsc is written in Go. Collecting garbage less often saves a quarter of its CPU, for 150 MB.
    env: Object.assign({}, process.env, { GOGC: '400' }),
  });
  const outputs = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  const passed = (await child.exited) === 0;
  // In place of the line of progress, which the tests write again.
  const line = `${passed ? '✓' : '✗'} ${name} ${Math.round(performance.now() - started)} ms`;
  print(process.stdout.isTTY ? `\r\x1b[K${line}` : line);
  return { passed, output: outputs.join('').trimEnd() };
}

async function environmentFor({ quick }: TestOptions): Promise<Record<string, string>> {
  if (quick) {
    print(
      'Not run, because of --quick: tests of browser, faults and deployment, tests that start servers or processes or take 5 s or more, and the second ClickHouse engine.',
    );
    return { SCANLOG_TEST_QUICK: '1', [engineVariable]: selectedEngines()[0] ?? '' };
  }
  const browser = await findBrowser();
  if (browser !== undefined) return { SCANLOG_BROWSER: browser };
  print(
    'Not run: test/browser, because Chromium is not installed and could not be installed (as root: apt-get install chromium).',
  );
  return {};
}

/** Vitest also colors what is written to a file. */
const colors: Record<string, string> = process.stdout.isTTY ? {} : { NO_COLOR: '1' };

interface RunOptions {
  environment: Record<string, string>;
  seed: number | undefined;
  stall: boolean;
}

async function runOnce(filters: string[], options: RunOptions): Promise<Report> {
  const folders = new RunFolders();
  const remove = onSignal(() => {
    folders.killProcesses();
    folders.remove();
  });
  try {
    return await runIn(folders, filters, options);
  } finally {
    remove();
    folders.remove();
  }
}

/** Calls `end` before a signal ends this process; returns what undoes that. */
function onSignal(end: () => void): () => void {
  const handlers = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((signal) => {
    const handler = () => {
      end();
      process.exit(128 + constants.signals[signal]);
    };
    process.once(signal, handler);
    return { signal, handler };
  });
  return () => {
    for (const { signal, handler } of handlers) process.off(signal, handler);
  };
}

async function runIn(folders: RunFolders, filters: string[], options: RunOptions): Promise<Report> {
  const { environment, seed, stall } = options;
  const child = Bun.spawn(
    [
      ...[process.execPath, '--bun', join(modules, 'vitest/vitest.mjs'), 'run'],
      ...['--config', join(root, 'test/vitest.config.ts'), '--root', root],
      ...(seed === undefined ? [] : [`--sequence.seed=${seed}`]),
      ...filters,
    ],
    {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, ...colors, ...environment, ...folders.environment, SCANLOG_TEST_REPORT: folders.report },
    },
  );
  const stalls = stall ? new Stalls(child.pid) : undefined;
  const succeeded = (await child.exited) === 0;
  await stalls?.end();
  return readReport(folders.report, succeeded);
}

/** A run that ended without a report, or with an error that no test reports, counts as one failure. */
function readReport(file: string, succeeded: boolean): Report {
  if (!existsSync(file)) return { passed: 0, failures: [{ test: 'all', message: 'the run ended without a report' }] };
  const report: Report = JSON.parse(readFileSync(file, 'utf8'));
  if (!succeeded && report.failures.length === 0)
    report.failures.push({ test: 'outside of tests', message: 'the run failed: see its output' });
  return report;
}
