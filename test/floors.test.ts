import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

/** A file imports only from floors below its own, or from its own folder. */
const floors: [RegExp, number][] = [
  [/^src\/cli\.ts$/, 11],
  [/^src\/cli\//, 10],
  [/^src\/chaos\//, 9],
  [/^src\/main\.ts$/, 8],
  [/^src\/service\//, 7],
  [/^src\/console\//, 6],
  [/^src\/(api\/|server\.ts$)/, 5],
  [/^src\/(codes|accounts|edge|stream)\//, 4],
  [/^(src\/log|projections)\//, 3],
  [/^src\/((warehouse|qr|stack|webhooks)\/|config\.ts$)/, 2],
  [/^src\/lib\//, 1],
  [/^events\//, 0],
];

const root = fileURLToPath(new URL('..', import.meta.url));
const floorOf = (file: string) => floors.find(([pattern]) => pattern.test(file))?.[1];
const folderOf = (file: string) =>
  file
    .split('/')
    .slice(0, file.startsWith('src/') ? 2 : 1)
    .join('/');

const files = ['src', 'events', 'projections'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(folder, name)),
);

const importsOf = (file: string) =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/from '(\.[^']+\.tsx?)'/g)].map(([, path]) =>
    relative(root, join(root, dirname(file), path as string)),
  );

describe('the floors', () => {
  test.each(files)('%s stands on one, and imports from below', (file) => {
    const floor = floorOf(file);
    expect(floor, 'it belongs to a floor').toBeDefined();
    for (const target of importsOf(file)) {
      if (folderOf(target) === folderOf(file) || target.startsWith('bench/')) continue;
      expect(floorOf(target), `${file} imports ${target}`).toBeLessThan(floor as number);
    }
  });

  test('no file imports itself by way of others', () => {
    const circle = files.map((file) => circleFrom(file, [file])).find((found) => found !== undefined);
    expect(circle?.join(' → ')).toBeUndefined();
  });
});

const clear = new Set<string>();

function circleFrom(file: string, path: string[]): string[] | undefined {
  if (clear.has(file)) return undefined;
  for (const target of importsOf(file).filter((name) => files.includes(name))) {
    if (path.includes(target)) return [...path, target];
    const circle = circleFrom(target, [...path, target]);
    if (circle !== undefined) return circle;
  }
  clear.add(file);
  return undefined;
}
