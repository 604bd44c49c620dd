import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { engineNames } from '../../src/stack/clickhouse/engine.ts';
import {
  availableEngines,
  clickhouseCommand,
  missingFor,
  nodeRuntime,
  selectedEngines,
} from '../../src/stack/clickhouse/engines.ts';
import {
  type ClickHouseProcess,
  password,
  startClickHouse,
  startedClickHouse,
  startTimeoutMs,
} from './clickhouse-server.ts';

const stopTimeoutMs = 6_000;

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
    const response = await fetch(inject('stack').clickhouseUrl.replace(/\/\/.*@/, '//'));
    const [engine] = selectedEngines();
    expect(response.headers.get('x-clickhouse-server-display-name')).toBe(`scanlog-${engine}`);
  });
});

describe.each(selectedEngines())('the process of the embedded ClickHouse (%s)', (engine) => {
  let dataDir: string;
  let server: ClickHouseProcess;

  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), `clickhouse-${engine}-`));
    server = await startedClickHouse(engine, dataDir);
  }, startTimeoutMs);

  afterEach(async () => {
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }, startTimeoutMs);

  async function endOf({ child }: ClickHouseProcess): Promise<{ code: unknown; withinMs: number }> {
    const from = performance.now();
    const [code] = await once(child, 'exit');
    return { code, withinMs: performance.now() - from };
  }

  test(
    'runs with low priority, refuses a port in use in one sentence, and stops soon on SIGTERM, busy or not',
    async () => {
      if (server.child.pid === undefined) throw new Error('no process');
      expect(getPriority(server.child.pid)).toBe(Math.max(5, getPriority()));

      const otherDir = mkdtempSync(join(tmpdir(), `clickhouse-${engine}-`));
      const second = await startClickHouse(engine, otherDir, { port: server.port });
      rmSync(otherDir, { recursive: true, force: true });
      expect(second).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^ClickHouse cannot listen on port \d+: .+\n$/),
      });

      const client = server.client();
      const busy = client
        .query({ query: 'SELECT max(sipHash64(number)) FROM numbers(100000000000)' })
        .catch(() => 'cut off');
      await client.ping();
      const end = endOf(server);
      server.child.kill('SIGTERM');
      const { code, withinMs } = await end;
      expect(code).toBe(0);
      expect(withinMs).toBeLessThan(stopTimeoutMs);
      expect(await busy).toBe('cut off');
      await client.close();
    },
    2 * startTimeoutMs,
  );

  test(
    'exits when its stdin is closed, as after the death of its parent',
    async () => {
      const end = endOf(server);
      server.child.stdin?.end();
      const { code, withinMs } = await end;
      expect(code).toBe(0);
      expect(withinMs).toBeLessThan(stopTimeoutMs);
    },
    startTimeoutMs,
  );
});

describe.each(selectedEngines().filter((engine) => engine === 'native'))(
  'the data of the embedded ClickHouse (%s)',
  (engine) => {
    test(
      'belongs to one process at a time and persists',
      async () => {
        const dataDir = mkdtempSync(join(tmpdir(), `clickhouse-${engine}-`));
        const first = await startedClickHouse(engine, dataDir);
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
        const third = await startedClickHouse(engine, dataDir);
        const reader = third.client();
        const result = await reader.query({ query: 'SELECT a FROM kept.t', format: 'JSONEachRow' });
        expect(await result.json()).toEqual([{ a: 42 }]);
        await reader.close();
        await third.stop();
        rmSync(dataDir, { recursive: true, force: true });
      },
      3 * startTimeoutMs,
    );
  },
);
