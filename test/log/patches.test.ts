import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { applyPatch, parsePatch, reversePatch } from 'diff';
import { afterEach, beforeEach, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const program = join(root, 'patches/apply.mjs');
let modules: string;
beforeEach(() => {
  modules = mkdtempSync(join(tmpdir(), 'scanlog-patches-'));
  cpSync(join(root, 'node_modules/postgres'), join(modules, 'postgres'), { recursive: true });
});
afterEach(() => rmSync(modules, { recursive: true, force: true }));

const run = () => {
  const { status, stderr } = spawnSync('node', [program, modules], { encoding: 'utf8' });
  return { status, stderr };
};
const change = (path: string, from: string, to: string) => {
  const file = join(modules, 'postgres', path);
  const text = readFileSync(file, 'utf8');
  expect(text).toContain(from);
  writeFileSync(file, text.replace(from, to));
};

test('leaves a patched package unchanged', () => {
  expect(run()).toEqual({ status: 0, stderr: '' });
});

test('patches the original package', () => {
  const patched = (path: string) => readFileSync(join(root, 'node_modules/postgres', path), 'utf8');
  for (const diff of parsePatch(readFileSync(join(root, 'patches/postgres-3.4.9.patch'), 'utf8'))) {
    const path = diff.newFileName?.replace('b/', '') ?? '';
    const original = applyPatch(patched(path), reversePatch(diff));
    if (original === false) throw new Error(`${path} is not patched`);
    writeFileSync(join(modules, 'postgres', path), original);
  }
  const file = join(modules, 'postgres/src/connection.js');
  expect(readFileSync(file, 'utf8')).not.toContain('READ_TIMEOUT');
  expect(run()).toEqual({ status: 0, stderr: '' });
  expect(readFileSync(file, 'utf8')).toBe(patched('src/connection.js'));
});

test('rejects another version of the package', () => {
  change('package.json', '"version": "3.4.9"', '"version": "3.5.0"');
  expect(run()).toMatchObject({ status: 1, stderr: expect.stringContaining('postgres 3.5.0 is installed') });
});

test('rejects a file with unreviewed changes', () => {
  change('src/index.js', 'function begin', 'function  begin');
  expect(run()).toMatchObject({ status: 1, stderr: expect.stringContaining('src/index.js is not the file') });
});
