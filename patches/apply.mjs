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
  {
    name: 'nats',
    version: '2.29.3',
    files: {
      'lib/nats-base-client/protocol.js': {
        original: '6c6739e07afb36526b6d7a65318bfe3cb5a7079ae6d659824f1cefb18f35d193',
        patched: '1da64e3e720122c10c8e77ffb76ddcb73c591be63b6b23f7ade71417e0c7ecd1',
      },
      'lib/src/node_transport.js': {
        original: 'ad05656734a5e1e8a73d45027ecb7e55934466ff2369be1aff99dbf307caf8f5',
        patched: '802bb88201f922c6b58496126b7ccd2102113d65d0b206fedbe5263b5e75f74b',
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
