/** A CycloneDX 1.6 bill of materials (https://cyclonedx.org/docs/1.6/json/) of what package-lock.json installs without tests. */

/** An entry of package-lock.json, version 3. */
interface LockedPackage {
  version: string;
  /** The name, if it is not the name of the folder. */
  name?: string;
  license?: string;
  integrity?: string;
  dev?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

export interface PackageLock {
  name: string;
  version: string;
  /** By folder; the folder of the project itself is ''. */
  packages: Record<string, LockedPackage>;
}

export interface Component {
  type: 'application' | 'library';
  'bom-ref': string;
  name: string;
  version: string;
  description?: string;
  group?: string;
  purl?: string;
  scope?: 'required' | 'optional';
  licenses?: [{ expression: string } | { license: { name: string } }];
  hashes?: { alg: 'SHA-512'; content: string }[];
  properties?: { name: string; value: string }[];
  pedigree?: { patches: { type: 'unofficial'; diff: { url: string } }[] };
}

export interface Bom {
  $schema: string;
  bomFormat: 'CycloneDX';
  specVersion: '1.6';
  version: 1;
  metadata: { timestamp: string; component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

interface SbomOptions {
  now: Date;
  /** Programs that no package of npm brings. */
  programs: Component[];
  /** Patches of packages that are applied after the installation, by the name of the package. */
  patches: Record<string, string>;
}

const modules = 'node_modules/';

/** The bill of materials of a lock file. */
export function sbomOf(lock: PackageLock, { now, programs, patches }: SbomOptions): Bom {
  const shipped = new Map(Object.entries(lock.packages).filter(([path, { dev }]) => path !== '' && dev !== true));
  const refOf = (path: string) => {
    const entry = shipped.get(path);
    return entry === undefined ? [] : [refTo(nameOf(path, entry), entry.version, path)];
  };
  const own: Component = {
    type: 'application',
    'bom-ref': `${lock.name}@${lock.version}`,
    name: lock.name,
    version: lock.version,
    licenses: licensesOf(lock.packages['']?.license ?? ''),
  };
  const dependenciesOf = (path: string): string[] => {
    const { dependencies, optionalDependencies, peerDependencies } = lock.packages[path] as LockedPackage;
    const names = [dependencies, optionalDependencies, peerDependencies].flatMap((group) => Object.keys(group ?? {}));
    return [...new Set(names.flatMap((name) => refOf(resolve(lock, path, name))))].sort();
  };
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { timestamp: now.toISOString(), component: own },
    components: [...[...shipped].map(([path, entry]) => componentOf(path, entry, patches)), ...programs],
    dependencies: [
      { ref: own['bom-ref'], dependsOn: [...dependenciesOf(''), ...programs.map((program) => program['bom-ref'])] },
      ...[...shipped.keys()].flatMap((path) => refOf(path).map((ref) => ({ ref, dependsOn: dependenciesOf(path) }))),
    ],
  };
}

function nameOf(path: string, { name }: LockedPackage): string {
  return name ?? path.slice(path.lastIndexOf(modules) + modules.length);
}

/** A nested copy of a version that is installed elsewhere, too, is named by its folder. */
const refTo = (name: string, version: string, path: string) =>
  path === `${modules}${name}` ? `${name}@${version}` : `${name}@${version}|${path}`;

/** The folder from which a package loads another: its own node_modules, or the nearest of those above it. */
function resolve(lock: PackageLock, from: string, name: string): string {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf(`/${modules}`)))) {
    const path = `${folder === '' ? '' : `${folder}/`}${modules}${name}`;
    if (lock.packages[path] !== undefined || folder === '') return path;
  }
}

function componentOf(path: string, entry: LockedPackage, patches: Record<string, string>): Component {
  const fullName = nameOf(path, entry);
  const [name = '', group] = fullName.split('/').reverse();
  const platform = [...(entry.os ?? []), ...(entry.cpu ?? [])];
  const patch = patches[fullName];
  return {
    type: 'library',
    'bom-ref': refTo(fullName, entry.version, path),
    name,
    version: entry.version,
    ...(group === undefined ? {} : { group }),
    purl: `pkg:npm/${fullName.replace('@', '%40')}@${entry.version}`,
    scope: entry.optional === true ? 'optional' : 'required',
    ...(entry.license === undefined ? {} : { licenses: licensesOf(entry.license) }),
    ...(entry.integrity === undefined ? {} : { hashes: hashesOf(entry.integrity) }),
    properties: [
      { name: 'cdx:npm:package:path', value: path },
      ...(platform.length === 0 ? [] : [{ name: 'scanlog:platform', value: platform.join(' ') }]),
    ],
    ...(patch === undefined ? {} : { pedigree: { patches: [{ type: 'unofficial', diff: { url: patch } }] } }),
  };
}

/** An SPDX expression of ids, or a license that SPDX does not name. */
const licensesOf = (license: string): NonNullable<Component['licenses']> =>
  /^\(?[\w.+-]+(?: (?:OR|AND|WITH) [\w.+-]+)*\)?$/.test(license)
    ? [{ expression: license }]
    : [{ license: { name: license } }];

const hashesOf = (integrity: string): NonNullable<Component['hashes']> =>
  integrity
    .split(' ')
    .filter((hash) => hash.startsWith('sha512-'))
    .map((hash) => ({ alg: 'SHA-512', content: Buffer.from(hash.slice('sha512-'.length), 'base64').toString('hex') }));
