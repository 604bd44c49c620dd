import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { settings } from '../src/config/settings.ts';
import { fileVariableOf } from '../src/lib/secret-file.ts';

const reference = readFileSync(new URL('../docs/reference.md', import.meta.url), 'utf8');

describe('docs/reference.md', () => {
  test.each(Object.values(settings))('lists $variable as it is', ({ variable, about, ...setting }) => {
    const row = reference.split('\n').find((line) => line.startsWith(`| \`${variable}\` |`));
    expect(row, `there is no row for ${variable}`).toBeDefined();
    expect(row).toContain(about);
    if (setting.fallback !== undefined) expect(row).toContain(`\`${setting.fallback}\``);
    if (setting.flag !== undefined) expect(row).toContain(`\`--${setting.flag}\``);
  });

  test('names the file variable of every secret setting', () => {
    const secrets = Object.values(settings).filter((setting) => setting.isSecret === true);
    const named = [...reference.matchAll(/`([A-Z0-9_]+_FILE)`/g)].map(([, name]) => name);
    expect(named).toEqual(secrets.map(({ variable }) => fileVariableOf(variable)));
  });

  test('lists no setting that does not exist', () => {
    const listed = [...reference.matchAll(/^\| `([A-Z][A-Z0-9_]+)` \|/gm)].map(([, name]) => name);
    expect(listed).toEqual(Object.values(settings).map(({ variable }) => variable));
  });
});
