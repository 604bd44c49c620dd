import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Commands end, and the app of the console runs in a browser. */
const isLasting = (file: string) => !/^src\/(cli|maintenance|stack|console\/app)\//.test(file);

/** A `Map`, `Set` or cache of a module or a class, which outlives a call. */
const kept =
  /^(?:export )?(?:const|let) \w+(?:: [^=]+)? = new (?:Map|Set)(?:<.*>)?\(\)|^ {2}(?:readonly )?#\w+(?:: [^=]+)? = new (?:Map|Set)(?:<.*>)?\(\)|\blru<|new ByteLru|new RouteCache/m;

test('docs/architecture.md names the limit of everything that is kept in memory', () => {
  const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
  const [, section = ''] = /^## What is kept in memory\n([\s\S]*?)^## /m.exec(page) ?? [];
  const files = ['src', 'events', 'projections'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(folder, name)),
  );
  const keeping = files.filter((file) => isLasting(file) && kept.test(readFileSync(join(root, file), 'utf8')));
  expect(keeping.length).toBeGreaterThan(30);
  expect(keeping.filter((file) => !section.includes(`\`${file}\``))).toEqual([]);
});
