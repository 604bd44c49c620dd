import { expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import type { Bom, Component } from '../../src/lib/sbom.ts';
import { command } from '../support/command.ts';
import { runProgram } from '../support/programs.ts';

const shown = ({ purl, hashes, scope }: Component) => ({ purl, hashes, scope });

test('has the packages that an installation without tests has, with their checksums, and the servers', async () => {
  const { code, output } = await command(['sbom']);
  expect(code, output).toBe(0);
  const bom: Bom = JSON.parse(output);
  expect(bom).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6', version: 1 });
  const packages = bom.components.filter(({ purl }) => purl !== undefined);
  const { status, output: text } = runProgram('npm', [
    ...['sbom', '--sbom-format=cyclonedx', '--package-lock-only', '--omit=dev', '--loglevel=silent'],
  ]);
  expect(status, text).toBe(0);
  // npm leaves out packages that one for the tests needs, too, direct dependencies among them.
  const ofNpm: Bom = JSON.parse(text);
  expect(packages.map(shown)).toEqual(expect.arrayContaining(ofNpm.components.map(shown)));
  for (const [name, version] of Object.entries(packageJson.dependencies))
    expect(packages.map(({ purl }) => purl)).toContain(`pkg:npm/${name.replace('@', '%40')}@${version}`);

  for (const name of Object.keys(packageJson.devDependencies))
    if (name !== 'typescript')
      expect(packages.map(({ purl }) => purl)).not.toContainEqual(expect.stringContaining(`/${name}@`));
  for (const { licenses, version, name } of bom.components) {
    expect(licenses?.length, name).toBe(1);
    expect(version, name).toMatch(/^\d+\.\d+/);
  }
  for (const patched of ['postgres', 'nats'])
    expect(packages.find(({ name }) => name === patched)?.pedigree?.patches, patched).toHaveLength(1);
  const programs = bom.components.filter(({ purl }) => purl === undefined);
  expect(programs.map(({ name }) => name)).toEqual(['postgresql', 'clickhouse', 'clickhouse', 'nats-server']);

  const refs = bom.components.map((component) => component['bom-ref']);
  expect(new Set(refs).size, 'references are unique').toBe(refs.length);
  const dependencies = new Map(bom.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
  const reached = new Set([bom.metadata.component['bom-ref']]);
  for (const ref of reached) for (const needed of dependencies.get(ref) ?? []) reached.add(needed);
  expect(reached, 'each is there because another needs it').toEqual(
    new Set([bom.metadata.component['bom-ref'], ...refs]),
  );
});
