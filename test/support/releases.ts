import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

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

/** Unpacks a release from the history into `folder`, to run on the installed packages. */
export function unpackRelease({ version, commit }: Release, folder: string): void {
  if (git(['cat-file', '-e', `${commit}^{commit}`]).status !== 0)
    throw new Error(
      `Commit ${commit} (release ${version}) is not in this clone, and the upgrade test starts it: run git fetch --unshallow.`,
    );
  mkdirSync(folder, { recursive: true });
  const archive = git(['archive', '--format=tar', commit]);
  const unpacked = spawnSync('tar', ['-x', '-C', folder], { input: archive.stdout, maxBuffer: maxArchiveBytes });
  if (archive.status !== 0 || unpacked.status !== 0)
    throw new Error(`Release ${version} could not be unpacked: ${archive.stderr}${unpacked.stderr}`);
  symlinkSync(join(checkout, 'node_modules'), join(folder, 'node_modules'));
  requirePackages(version, folder);
}

const maxArchiveBytes = 100 * 2 ** 20;
const git = (args: string[]) => spawnSync('git', args, { cwd: checkout, maxBuffer: maxArchiveBytes });

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
