import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findBrowser } from './browser.ts';
import { print } from './terminal.ts';

const root = join(import.meta.dir, '../..');
const modules = join(root, 'node_modules');

const run = async (args: string[], environment: Record<string, string> = {}): Promise<boolean> => {
  const child = Bun.spawn([process.execPath, '--bun', ...args], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...environment },
  });
  return (await child.exited) === 0;
};

/** Checks types and lint, runs the tests, and prints the totals. */
export async function runTests(filters: string[]): Promise<void> {
  const checks = { passed: 0, failed: 0 };
  const check = async (name: string, args: string[]) => {
    const started = performance.now();
    const passed = await run(args);
    checks[passed ? 'passed' : 'failed']++;
    print(`${passed ? '✓' : '✗'} ${name} ${Math.round(performance.now() - started)} ms`);
  };
  await check('types', [join(modules, 'typescript/bin/tsc'), '-p', root]);
  await check('types of the console', [join(modules, 'typescript/bin/tsc'), '-p', join(root, 'src/console/app')]);
  await check('lint', [join(modules, '@biomejs/biome/bin/biome'), 'check', root]);

  const browser = await findBrowser();
  const report = join(tmpdir(), `scanlog-tests-${process.pid}.json`);
  const succeeded = await run(
    [
      join(modules, 'vitest/vitest.mjs'),
      ...['run', '--config', join(root, 'test/vitest.config.ts'), '--root', root],
      ...['--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...filters],
    ],
    browser === undefined ? {} : { SCANLOG_BROWSER: browser },
  );
  const tests = readReport(report, succeeded);
  if (browser === undefined)
    print(
      'Not run: test/browser, because Chromium is not installed and could not be installed (as root: apt-get install chromium).',
    );
  const passed = checks.passed + tests.passed;
  const failed = checks.failed + tests.failed;
  process.exitCode = failed === 0 && tests.passed > 0 ? 0 : 1;
  print(`${passed} passed, ${failed} failed`);
}

interface Report {
  numPassedTests: number;
  numFailedTests: number;
}

/** A run without a report, or one that failed outside a test, counts as one failure. */
function readReport(file: string, succeeded: boolean): { passed: number; failed: number } {
  if (!existsSync(file)) return { passed: 0, failed: 1 };
  const { numPassedTests, numFailedTests }: Report = JSON.parse(readFileSync(file, 'utf8'));
  rmSync(file);
  return { passed: numPassedTests, failed: numFailedTests + (succeeded || numFailedTests > 0 ? 0 : 1) };
}
