import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const consoleFolder = join(import.meta.dirname, '../../src/console');
const files = readdirSync(consoleFolder, { recursive: true, encoding: 'utf8' });
const textOf = (pattern: RegExp) =>
  files
    .filter((name) => pattern.test(name))
    .map((name) => readFileSync(join(consoleFolder, name), 'utf8'))
    .join('\n');

test('every class of the style sheets is used by a page of the console', () => {
  const sources = textOf(/\.tsx?$/);
  const words = new Set(sources.match(/[\w-]+/g));
  const selectors = textOf(/\.css$/)
    .replace(/\/\*.*?\*\//gs, '')
    .match(/[^{}]+(?=\{)/g);
  const classes = new Set(selectors?.flatMap((selector) => selector.match(/(?<=\.)[a-z][\w-]*/gi) ?? []));
  expect(classes.size).toBeGreaterThan(50);
  /** Some end with a number: `level-${…}`. */
  const isUsed = (name: string) => words.has(name) || sources.includes(`${name.replace(/\d+$/, '')}\${`);
  expect([...classes].filter((name) => !isUsed(name))).toEqual([]);
});
