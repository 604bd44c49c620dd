import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

const checkout = fileURLToPath(new URL('../../', import.meta.url));

export interface Release {
  version: string;
  commit: string;
}

/** All releases, as the changelog names them: a heading with the version, then "Commit `…`." */
export function releases(): Release[] {
  const changelog = readFileSync(join(checkout, 'CHANGELOG.md'), 'utf8');
  const headings = [...changelog.matchAll(/^## \[(\d[^\]]*)\].*\n\n(.*)/gm)];
  return headings.map(([, version = '', first = '']) => {
    const commit = /\bCommit `([0-9a-f]{7,40})`/.exec(first)?.[1];
    if (commit === undefined) throw new Error(`The entry of ${version} in CHANGELOG.md must begin with its commit.`);
    return { version, commit };
  });
}

/** Unpacks a release into `folder`, to run on the installed packages. */
export function unpackRelease(release: Release, folder: string): void {
  const { version } = release;
  mkdirSync(folder, { recursive: true });
  const unpacked = spawnSync('tar', ['-x', '-C', folder], { input: archiveOf(release) });
  if (unpacked.status !== 0) throw new Error(`Release ${version} could not be unpacked: ${unpacked.stderr}`);
  symlinkSync(join(checkout, 'node_modules'), join(folder, 'node_modules'));
  requirePackages(version, folder);
}

/** From its file, which a copy of the sources without the history has too; otherwise from the history. */
function archiveOf({ version, commit }: Release): Buffer {
  const name = `test/fixtures/releases/${version}.tar.gz`;
  const file = join(checkout, name);
  if (!existsSync(file)) return archiveFromHistory(commit, name);
  const archive = gunzipSync(readFileSync(file));
  // git archive writes the commit into the first header.
  const archived = /comment=([0-9a-f]{40})\n/.exec(archive.toString('latin1', 0, 1_024))?.[1];
  if (archived?.startsWith(commit) !== true)
    throw new Error(`${name} must be of commit ${commit}, as CHANGELOG.md says, and is of ${archived}.`);
  return archive;
}

function archiveFromHistory(commit: string, missing: string): Buffer {
  const { status, stdout } = spawnSync('git', ['archive', '--format=tar', commit], {
    cwd: checkout,
    maxBuffer: 100 * 2 ** 20,
  });
  if (status === 0) return stdout;
  throw new Error(
    `The upgrade test needs ${missing} (CONTRIBUTING.md, "A release"), or commit ${commit} in the history: run git fetch --unshallow.`,
  );
}

/** A release that ran on other packages than it was released with would be another release. */
function requirePackages(version: string, folder: string): void {
  const { dependencies } = readJson(join(folder, 'package.json')) as { dependencies: Record<string, string> };
  const different = Object.entries(dependencies).flatMap(([name, wanted]) => {
    const file = join(folder, 'node_modules', name, 'package.json');
    const installed = existsSync(file) ? (readJson(file) as { version: string }).version : 'missing';
    return installed === wanted ? [] : [`${name} ${wanted} (here: ${installed})`];
  });
  if (different.length > 0)
    throw new Error(
      `Release ${version} needs other packages than are installed: ${different.join(', ')}. Add them under an alias to the dev dependencies, and link them in unpackRelease.`,
    );
}

const readJson = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));
