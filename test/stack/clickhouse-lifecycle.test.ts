import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { connectWarehouse } from '../../src/analytics/connect.ts';
import { readConfig } from '../../src/config/config.ts';
import { allowedCpus } from '../../src/lib/leave-first-cpu.ts';
import { engineNames } from '../../src/stack/clickhouse/engine.ts';
import {
  availableEngines,
  clickhouseCommand,
  missingFor,
  nodeRuntime,
  selectedEngines,
} from '../../src/stack/clickhouse/engines.ts';
import { canLeaveFirstCpu } from '../support/cpus.ts';
import { eventually } from '../support/eventually.ts';
import { type ClickHouseProcess, password, startClickHouse, startedClickHouse } from './clickhouse-server.ts';

test('the password of ClickHouse is not an argument, and a machine with an engine has a Node for it', () => {
  const [engine] = availableEngines();
  if (engine === undefined) throw new Error('no engine can run on this machine');
  expect(nodeRuntime()).toBeDefined();
  const { args, env } = clickhouseCommand({ engine, dataDir: '/data', port: 1, password });
  expect(args.join(' ')).not.toContain(password);
  expect(env['CLICKHOUSE_PASSWORD']).toBe(password);
});

describe('SCANLOG_CLICKHOUSE_ENGINE', () => {
  test('selects every engine that can run here if it is not set', () => {
    expect(selectedEngines('')).toEqual(availableEngines());
  });

  test.each(engineNames)('selects only %s, or says why that cannot run here', (engine) => {
    const missing = missingFor(engine);
    if (missing === undefined) expect(selectedEngines(engine)).toEqual([engine]);
    else
      expect(() => selectedEngines(engine)).toThrow(`SCANLOG_CLICKHOUSE_ENGINE=${engine} cannot run here: ${missing}.`);
  });

  test('refuses an unknown engine', () => {
    expect(() => selectedEngines('remote')).toThrow('SCANLOG_CLICKHOUSE_ENGINE must be native or wasm, not remote.');
  });

  test('selects the engine of the stack that the tests run on', async () => {
    const { client } = connectWarehouse({ ...readConfig({}), ...inject('stack') });
    const result = await client.query({ query: 'SELECT hostName() AS host', format: 'JSONEachRow' });
    const [row] = await result.json<{ host: string }>();
    await client.close();
    expect(row?.host === 'emscripten' ? 'wasm' : 'native').toBe(selectedEngines()[0]);
  });
});

/** The first engine of this machine; the server around it is the same for all. */
const engine = selectedEngines()[0] ?? 'native';
const folders: string[] = [];
const servers: ClickHouseProcess[] = [];

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), `clickhouse-${engine}-`));
  folders.push(folder);
  return folder;
}

async function started(dataDir = newFolder()): Promise<ClickHouseProcess> {
  const server = await startedClickHouse(engine, dataDir);
  servers.push(server);
  return server;
}

afterAll(async () => {
  for (const server of servers) await server.stop();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

describe(`the process of the embedded ClickHouse (${engine})`, () => {
  test('has a low priority, leaves one CPU to redirects, refuses a port in use in one sentence, and exits when its stdin is closed', async () => {
    const server = await startClickHouse(engine, newFolder(), { isBelowRedirects: true });
    if ('code' in server) throw new Error(`ClickHouse exited with ${server.code}: ${server.stderr}`);
    servers.push(server);
    const { pid = 0 } = server.child;
    expect(getPriority(pid)).toBe(Math.max(10, getPriority()));
    const allCpus = allowedCpus(process.pid);
    await eventually(() => expect(allowedCpus(pid) === allCpus).toBe(!canLeaveFirstCpu(allCpus)));

    const second = await startClickHouse(engine, newFolder(), { port: server.port });
    expect(second).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^ClickHouse cannot listen on port \d+: .+\n$/),
    });

    // As after the death of its parent.
    const exit = once(server.child, 'exit');
    server.child.stdin?.end();
    expect(await exit).toEqual([0, null]);
  });

  // In WebAssembly, all data is in memory.
  if (engine === 'native')
    test('keeps its data, which belongs to one process at a time', async () => {
      const dataDir = newFolder();
      const first = await started(dataDir);
      const writer = first.client();
      await writer.command({ query: 'CREATE DATABASE kept' });
      await writer.command({ query: 'CREATE TABLE kept.t (a UInt8) ENGINE = MergeTree ORDER BY a' });
      await writer.insert({ table: 'kept.t', values: [{ a: 42 }], format: 'JSONEachRow' });
      await writer.close();

      const second = await startClickHouse(engine, dataDir);
      expect(second).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(`process ${first.child.pid} is using it\n`),
      });

      await first.stop();
      const reader = (await started(dataDir)).client();
      const result = await reader.query({ query: 'SELECT a FROM kept.t', format: 'JSONEachRow' });
      expect(await result.json()).toEqual([{ a: 42 }]);
      await reader.close();
    });
});
