import { rmSync } from 'node:fs';
import type { TestProject } from 'vitest/node';
import { makeServersFolder, serversVariable } from '../../src/cli/test/run-folders.ts';
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
  const folder = process.env[serversVariable] ?? makeServersFolder();
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
