import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../lib/errors.ts';
import { clickhouseCommand, selectedEngines } from './clickhouse/engines.ts';
import type { DataDirectory } from './data-directory.ts';
import type { PartPlan } from './part.ts';

export const clickhouseUrl = (port: number, password: string) => `http://default:${password}@127.0.0.1:${port}`;

export function clickhousePlan(options: { data: DataDirectory; port: number; password: string }): PartPlan {
  const { data, port, password } = options;
  return {
    name: 'clickhouse',
    stopSignal: 'SIGTERM',
    launch() {
      const [engine] = selectedEngines();
      if (engine === undefined)
        throw new StartError(
          `There is no embedded ClickHouse for ${process.platform} on ${process.arch}: set CLICKHOUSE_URL.`,
        );
      const dataDir = join(data.path, 'clickhouse');
      mkdirSync(dataDir, { recursive: true, mode: 0o700 });
      return clickhouseCommand({ engine, dataDir, port, password });
    },
    answers: () =>
      fetch(`http://127.0.0.1:${port}/ping`, { signal: AbortSignal.timeout(1_000) }).then(
        (response) => response.ok,
        () => false,
      ),
  };
}
