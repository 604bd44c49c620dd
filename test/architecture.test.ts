import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');

/** The table of docs/architecture.md: `src/log/` → 3. */
const layers = new Map(
  [...page.matchAll(/^\| (\d+) \| `([^`]+)` \|/gm)].map(([, layer, path]) => [path, Number(layer)]),
);

/** The entry of the table that a file belongs to. */
const unitOf = (file: string) => {
  const [top = '', folder = ''] = file.split('/');
  if (top !== 'src') return `${top}/`;
  return layers.has(file) ? file : `src/${folder}/`;
};

const files = ['src', 'events', 'projections', 'bench', 'clients'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /(?<!\.d)\.tsx?$/.test(name))
    .map((name) => join(folder, name)),
);

/** Static and dynamic imports. */
const specifier = /(?:\bfrom\s+|\bimport\s*\(\s*|\bimport\s+)'(\.{1,2}\/[^']+\.tsx?)'/g;

const importsOf = (file: string) =>
  [...readFileSync(join(root, file), 'utf8').matchAll(specifier)].map(([, path]) =>
    relative(root, join(root, dirname(file), path as string)),
  );

describe('docs/architecture.md', () => {
  test('names every folder, and no other', () => {
    expect([...new Set(files.map(unitOf))].toSorted()).toEqual([...layers.keys()].toSorted());
  });

  test('names files that exist', () => {
    const named = [...page.matchAll(/`((?:src|events|projections|test|bench)\/[\w/.-]+\.ts)`/g)].map(
      ([, path]) => path,
    );
    expect(named.filter((path) => !existsSync(join(root, path as string)))).toEqual([]);
  });
});

describe('layers', () => {
  test.each(files)('%s imports from its own folder and from layers below', (file) => {
    const layer = layers.get(unitOf(file)) as number;
    const wrong = importsOf(file).filter(
      (target) => unitOf(target) !== unitOf(file) && !((layers.get(unitOf(target)) ?? Number.NaN) < layer),
    );
    expect(wrong).toEqual([]);
  });

  test('have no import cycle', () => {
    const cycle = files.map((file) => cycleFrom(file, [file])).find((found) => found !== undefined);
    expect(cycle?.join(' → ')).toBeUndefined();
  });
});

/** The files that a file loads at once: dynamic imports and types are left out. */
function loadedBy(file: string, loaded = new Set<string>()): Set<string> {
  if (loaded.has(file)) return loaded;
  loaded.add(file);
  const text = readFileSync(join(root, file), 'utf8').replaceAll(/^(import|export) type [^;]+;/gm, '');
  for (const [, path] of text.matchAll(/\bfrom '(\.{1,2}\/[^']+\.tsx?)'/g))
    loadedBy(relative(root, join(root, dirname(file), path as string)), loaded);
  return loaded;
}

test('a process of the service loads only the code of its roles', () => {
  const loaded = loadedBy('src/service/start.ts');
  expect(loaded).toContain('src/edge/edge.ts');
  for (const file of ['src/api/v1.ts', 'src/console/serve.ts', 'src/service/run-analytics.ts'])
    expect(loaded, file).not.toContain(file);
});

test('the command line loads neither settings nor drivers before it knows the command', () => {
  const loaded = loadedBy('src/cli.ts');
  expect(loaded).toContain('src/cli/operator-commands.ts');
  for (const file of ['src/config/settings.ts', 'src/log/connect.ts', 'src/cli/connection.ts', 'events/catalogue.ts'])
    expect(loaded, file).not.toContain(file);
});

const withoutCycle = new Set<string>();

function cycleFrom(file: string, path: string[]): string[] | undefined {
  if (withoutCycle.has(file)) return undefined;
  for (const target of importsOf(file).filter((name) => files.includes(name))) {
    if (path.includes(target)) return [...path, target];
    const cycle = cycleFrom(target, [...path, target]);
    if (cycle !== undefined) return cycle;
  }
  withoutCycle.add(file);
  return undefined;
}
