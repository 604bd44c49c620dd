/**
 * Prints package-lock.json with the address of each package: `node patches/addresses.mjs <registry>`.
 *
 * The lock file has none, so that it suits every registry. Without them npm asks the registry for the description of each of 600
 * packages, which takes 15 of 37 s.
 */
import { readFileSync } from 'node:fs';

const registry = process.argv[2].replace(/\/$/, '');
const lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'));

for (const [folder, entry] of Object.entries(lock.packages)) {
  // The package itself, and those in a folder of this repository, have no checksum.
  if (entry.integrity === undefined) continue;
  const name = entry.name ?? folder.split('node_modules/').at(-1);
  entry.resolved ??= `${registry}/${name}/-/${name.split('/').at(-1)}-${entry.version}.tgz`;
}
console.log(JSON.stringify(lock));
