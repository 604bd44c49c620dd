import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { applyPatch, parsePatch, reversePatch } from 'diff';
import { afterEach, beforeEach, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const program = join(root, 'patches/apply.mjs');
const patches = [
  { name: 'postgres', file: 'postgres-3.4.9.patch' },
  { name: 'nats', file: 'nats-2.29.3.patch' },
];
let modules: string;
beforeEach(() => {
  modules = mkdtempSync(join(tmpdir(), 'scanlog-patches-'));
  for (const { name } of patches) cpSync(join(root, 'node_modules', name), join(modules, name), { recursive: true });
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

test.each(patches)('patches the original package of $name', ({ name, file }) => {
  const patched = (path: string) => readFileSync(join(root, 'node_modules', name, path), 'utf8');
  const paths = parsePatch(readFileSync(join(root, 'patches', file), 'utf8')).map((diff) => {
    const path = diff.newFileName?.replace('b/', '') ?? '';
    const original = applyPatch(patched(path), reversePatch(diff));
    if (original === false) throw new Error(`${path} is not patched`);
    expect(original).not.toBe(patched(path));
    writeFileSync(join(modules, name, path), original);
    return path;
  });
  expect(paths).toHaveLength(2);
  expect(run()).toEqual({ status: 0, stderr: '' });
  for (const path of paths) expect(readFileSync(join(modules, name, path), 'utf8')).toBe(patched(path));
});

test('rejects another version of the package', () => {
  change('package.json', '"version": "3.4.9"', '"version": "3.5.0"');
  expect(run()).toMatchObject({ status: 1, stderr: expect.stringContaining('postgres 3.5.0 is installed') });
});

test('rejects a file with unreviewed changes', () => {
  change('src/index.js', 'function begin', 'function  begin');
  expect(run()).toMatchObject({ status: 1, stderr: expect.stringContaining('src/index.js is not the file') });
});
