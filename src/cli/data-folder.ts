import { fileURLToPath } from 'node:url';

/** `.scanlog` next to `./scanlog`. */
export const defaultDataFolder = fileURLToPath(new URL('../../.scanlog', import.meta.url));
