/**
 * Applies the patches of this folder to the installed packages. Run by ./scanlog after every install: `node patches/apply.mjs [node_modules]`.
 *
 * Each file is identified by its SHA-256: an original is patched, a patched one is left alone, anything else is refused,
 * because a package that differs from the one reviewed may need another patch or none.
 */
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { applyPatch, parsePatch } from 'diff';

const patches = [
  {
    name: 'postgres',
    version: '3.4.9',
    files: {
      'src/connection.js': {
        original: 'ee3a218d9aa6a6f2887c1a19da50009335fe84c11a5431d5cab72d6bc528632f',
        patched: '2538fb16408d3b86afca7d5b4d4a5f19e95f208b04607b973dcd985094190c20',
      },
      'src/index.js': {
        original: '4e21f5733e70d79cffc10d10d4ef01031de4a9ac862210e43f8870029fd103ed',
        patched: 'd0fb798ff4733f7bc17f9b5c2132632591f1665afc918f094e4a4a3f1d9ba8f1',
      },
    },
  },
];

const sha256 = (text) => createHash('sha256').update(text).digest('hex');

/** @param {URL} modules the node_modules folder, with a slash at its end */
function applyPatches(modules) {
  for (const { name, version, files } of patches) {
    const folder = new URL(`${name}/`, modules);
    const installed = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8')).version;
    if (installed !== version)
      throw new Error(
        `${name} ${installed} is installed, but the patch is for ${version}: review it for the new version.`,
      );
    const diffs = parsePatch(readFileSync(new URL(`${name}-${version}.patch`, import.meta.url), 'utf8'));
    for (const [path, checksums] of Object.entries(files)) {
      const diff = diffs.find(({ newFileName }) => newFileName === `b/${path}`);
      patchFile(fileURLToPath(new URL(path, folder)), diff, checksums);
    }
  }
}

function patchFile(file, diff, { original, patched }) {
  const text = readFileSync(file, 'utf8');
  const found = sha256(text);
  if (found === patched) return;
  if (found !== original)
    throw new Error(`${file} is not the file that the patch was reviewed for: delete node_modules.`);
  const result = applyPatch(text, diff);
  if (result === false || sha256(result) !== patched)
    throw new Error(`the patch of ${file} does not give the reviewed file.`);
  // Renamed into place: a process that loads the package meanwhile gets one file or the other, never half of one.
  writeFileSync(`${file}.${process.pid}.new`, result);
  renameSync(`${file}.${process.pid}.new`, file);
}

const [, , modules = fileURLToPath(new URL('../node_modules/', import.meta.url))] = process.argv;
try {
  applyPatches(pathToFileURL(`${resolve(modules)}/`));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
