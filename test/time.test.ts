import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const folder = fileURLToPath(new URL('.', import.meta.url));

/** What makes a test depend on the speed of the machine. */
const forbidden = {
  'a pause': /\bset(?:Timeout|Immediate|Interval)\b|\bsleep\(|timers\/promises/,
  'a limit of its own':
    /^\s*\}, [\d_]{4,}\);|(?<!\bend\(\{ )\btimeout: [\d_]+|AbortSignal\.timeout\(|\bvi\.wait|expect\.poll/,
};

/** Files that may, and why. */
const exceptions: Record<string, string> = {
  'edge/spool/child.ts': 'a program that runs until a test kills it',
  'support/progress.ts': 'a line of progress at regular intervals',
  'support/eventually.ts': 'the one pause between two checks of a condition',
};

const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(ts|mjs)$/.test(name));

test.each(files)('%s waits for conditions, not for times', (file) => {
  const lines = readFileSync(join(folder, file), 'utf8').split('\n');
  const found = lines.flatMap((line, n) =>
    Object.entries(forbidden)
      .filter(([, pattern]) => pattern.test(line))
      .map(([what]) => `line ${n + 1}: ${what}: ${line.trim()}`),
  );
  if (exceptions[file] === undefined) expect(found).toEqual([]);
  else expect(found, `${file} needs no exception any more`).not.toEqual([]);
});
