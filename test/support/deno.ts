import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const modules = fileURLToPath(new URL('../../node_modules/', import.meta.url));

/** The binary in the platform package of npm's `deno`: install scripts, which would copy it, are disabled. */
export const deno = ['glibc', 'musl']
  .map((libc) => join(modules, '@deno', `linux-${process.arch}-${libc}`, 'deno'))
  .concat(join(modules, '.bin/deno'))
  .find(existsSync) as string;
