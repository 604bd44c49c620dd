import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { createLogger } from '../../src/lib/logger.ts';
import { connect } from '../../src/log/connect.ts';
import { migrate } from '../../src/log/migrate.ts';
import { openDataDirectory, type RunningStack } from '../../src/stack/data-directory.ts';
import { serviceRole } from '../../src/stack/service-role.ts';
import { type Stack, startStack } from '../../src/stack/stack.ts';
import { serveBrowser } from './browser-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    stack: RunningStack & { adminDatabaseUrl: string };
    /** Starts the browser of the run, and returns its address. */
    browserUrl: string;
    /** Decides the order of the tests and the values of properties. */
    seed: number;
  }
}

export const templateDatabase = 'template_of_tests';

/** Starts one stack for all test files, and lets them start one browser. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(parentFolder(), 'scanlog-test-'));
  const log = createLogger('warn', false);
  const stack = await startStack({ data: openDataDirectory(folder), log, durable: false });
  await makeTemplate(stack);
  const { databaseUrl, adminDatabaseUrl, natsUrl, clickhouseUrl } = stack;
  project.provide('stack', { databaseUrl, adminDatabaseUrl, natsUrl, clickhouseUrl });
  const browser = serveBrowser();
  project.provide('browserUrl', browser.url);
  project.provide('seed', project.vitest.config.sequence.seed);
  return async () => {
    await browser.stop();
    await stack.stop();
    rmSync(folder, { recursive: true, force: true });
  };
}

const memoryFolder = '/dev/shm';
/** Of memory and of the folder, which is limited to 64 MB in a container by default. */
const minFreeBytes = 6 * 1024 ** 3;

/**
 * Where the servers of the run have their data: in memory, if there is plenty. Each test file has a database of 500 files, and
 * creating and deleting one takes 20 ms of CPU there, but 100 to 700 ms on ext4, which searches for inodes that were not in use lately.
 */
function parentFolder(): string {
  if (!existsSync(memoryFolder)) return tmpdir();
  const stats = statfsSync(memoryFolder);
  const freeBytes = Math.min(stats.bavail * stats.bsize, freemem());
  return freeBytes >= minFreeBytes ? memoryFolder : tmpdir();
}

/** A migrated database to copy, which is faster than migrating each database. */
async function makeTemplate({ databaseUrl, adminDatabaseUrl }: Stack): Promise<void> {
  const server = connect(adminDatabaseUrl, { max: 1 });
  await server.unsafe(`CREATE DATABASE ${templateDatabase} OWNER ${serviceRole}`);
  await server.end();
  const url = new URL(databaseUrl);
  url.pathname = `/${templateDatabase}`;
  const template = connect(url.href, { max: 2 });
  await migrate(template);
  await template.end();
}
