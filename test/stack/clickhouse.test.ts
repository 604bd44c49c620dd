import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { engineNames } from '../../src/stack/clickhouse/engine.ts';
import { engineVariable, missingFor, selectedEngines } from '../../src/stack/clickhouse/engines.ts';
import { answersSuite } from './clickhouse-answers.ts';
import { faultsSuite } from './clickhouse-faults.ts';
import { limitsSuite } from './clickhouse-limits.ts';
import { neighboursSuite } from './clickhouse-neighbours.ts';
import { parametersSuite } from './clickhouse-parameters.ts';
import { readsSuite } from './clickhouse-reads.ts';
import { settingsSuite } from './clickhouse-settings.ts';
import { newSubject } from './clickhouse-subject.ts';
import { warehouseSuite } from './clickhouse-warehouse.ts';
import { writesSuite } from './clickhouse-writes.ts';

for (const engine of engineNames) {
  const reason = missingFor(engine) ?? `${engineVariable} selects the other engine`;
  const state = selectedEngines().includes(engine) ? 'tested' : `not tested: ${reason}`;
  console.log(`embedded ClickHouse, engine ${engine}: ${state}`);
}

describe.each(selectedEngines())('the embedded ClickHouse (%s)', (engine) => {
  const dataDir = mkdtempSync(join(tmpdir(), `clickhouse-${engine}-`));
  const subject = newSubject(engine);

  beforeAll(() => subject.start(dataDir));
  afterAll(async () => {
    const code = await subject.stopWhileBusy();
    rmSync(dataDir, { recursive: true, force: true });
    expect(code, 'it stops by itself, also while a query runs').toBe(0);
  });

  answersSuite(subject);
  writesSuite(subject);
  parametersSuite(subject);
  settingsSuite(subject);
  readsSuite(subject);
  faultsSuite(subject);
  if (subject.isFirst) limitsSuite(subject);
  neighboursSuite(subject);
  warehouseSuite(subject);
});
