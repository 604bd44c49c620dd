import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { engineNames } from '../../src/stack/clickhouse/engine.ts';
import { engineVariable, missingFor, selectedEngines } from '../../src/stack/clickhouse/engines.ts';
import { engineSuite } from './clickhouse-engine.ts';
import { httpSuite } from './clickhouse-http.ts';
import { Subject } from './clickhouse-subject.ts';

for (const engine of engineNames) {
  const reason = missingFor(engine) ?? `${engineVariable} selects the other engine`;
  const state = selectedEngines().includes(engine) ? 'tested' : `not tested: ${reason}`;
  console.log(`embedded ClickHouse, engine ${engine}: ${state}`);
}

describe.each(selectedEngines())('the embedded ClickHouse (%s)', (engine) => {
  const dataDir = mkdtempSync(join(tmpdir(), `clickhouse-${engine}-`));
  const subject = new Subject(engine);

  beforeAll(() => subject.start(dataDir));
  afterAll(async () => {
    const code = await subject.stopWhileBusy();
    rmSync(dataDir, { recursive: true, force: true });
    expect(code, 'it stops by itself, also while a read runs').toBe(0);
  });

  if (subject.isFirst) httpSuite(subject);
  engineSuite(subject);
});
