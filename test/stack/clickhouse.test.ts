import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, vi } from 'vitest';
import { availableEngines, missingFor } from '../../src/stack/clickhouse/engines.ts';
import { answersSuite } from './clickhouse-answers.ts';
import { faultsSuite } from './clickhouse-faults.ts';
import { neighboursSuite } from './clickhouse-neighbours.ts';
import { parametersSuite } from './clickhouse-parameters.ts';
import { readsSuite } from './clickhouse-reads.ts';
import { startWithinMs } from './clickhouse-server.ts';
import { settingsSuite } from './clickhouse-settings.ts';
import { newSubject } from './clickhouse-subject.ts';
import { warehouseSuite } from './clickhouse-warehouse.ts';
import { writesSuite } from './clickhouse-writes.ts';

vi.setConfig({ testTimeout: 60_000 });

for (const engine of ['native', 'wasm'] as const) {
  const missing = missingFor(engine);
  console.log(
    `embedded ClickHouse, engine ${engine}: ${missing === undefined ? 'tested here' : `not here, ${missing}`}`,
  );
}

describe.each(availableEngines())('the embedded ClickHouse (%s)', (engine) => {
  const dataDir = mkdtempSync(join(tmpdir(), `clickhouse-${engine}-`));
  const subject = newSubject(engine);

  beforeAll(() => subject.start(dataDir), startWithinMs);
  afterAll(async () => {
    await subject.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }, startWithinMs);

  answersSuite(subject);
  writesSuite(subject);
  parametersSuite(subject);
  settingsSuite(subject);
  readsSuite(subject);
  faultsSuite(subject);
  neighboursSuite(subject);
  warehouseSuite(subject);
});
