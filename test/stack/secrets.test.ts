import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDataDirectory, readSecrets } from '../../src/stack/data-directory.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'scanlog-secrets-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('SECRET_KEY is generated at the first start, stored, and readable only by its owner', () => {
  const data = openDataDirectory(folder);
  const first = readSecrets(data);
  expect(first.secretKey).toMatch(/^[0-9a-f]{64}$/);
  expect(readSecrets(data)).toEqual(first);
  expect(statSync(join(folder, 'secrets.json')).mode & 0o777).toBe(0o600);
});

test('a data folder of an older version gets a SECRET_KEY and keeps its passwords', () => {
  const data = openDataDirectory(folder);
  const old = { postgres: 'p', nats: 'n', clickhouse: 'c' };
  writeFileSync(join(folder, 'secrets.json'), JSON.stringify(old));
  const secrets = readSecrets(data);
  expect(secrets).toMatchObject(old);
  expect(JSON.parse(readFileSync(join(folder, 'secrets.json'), 'utf8'))).toEqual(secrets);
});
