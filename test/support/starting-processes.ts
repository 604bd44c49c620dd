import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Without `spawnSync`, which runs a short script. */
const startsOne = /\b(spawn|execFile)\(/;
const imported = /from '(\.[^']+\.ts)'/g;

/** Test files that start a process beside the test, themselves or by a file of the tests or benchmarks that they import. */
export function filesStartingProcesses(root: string): string[] {
  const known = new Map<string, boolean>();
  const starts = (path: string): boolean => {
    const found = known.get(path);
    if (found !== undefined) return found;
    // For files that import each other.
    known.set(path, false);
    const text = readFileSync(join(root, path), 'utf8');
    const imports = [...text.matchAll(imported)].map(([, file = '']) => join(dirname(path), file));
    const result = startsOne.test(text) || imports.filter((file) => /^(test|bench)\//.test(file)).some(starts);
    known.set(path, result);
    return result;
  };
  // `support/stack.ts` starts the servers of the run, not servers of the file that reads their addresses from it.
  known.set('test/support/stack.ts', false);
  return globSync('test/**/*.test.ts', { cwd: root }).filter(starts);
}
