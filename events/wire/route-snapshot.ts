import { Buffer } from 'node:buffer';
import type { Route } from '../route.ts';
import { refuseNewer } from './newer-version.ts';

/**
 * A snapshot of routes: a line of JSON per route, visitor keys in hex. Version 1 has only these; from version 2 on, the
 * first line says which version it is. Version 3 has `disabled`.
 */
const snapshotVersion = 3;

export const snapshotHead = JSON.stringify({ snapshot: snapshotVersion });

export const encodeRoute = ({ visitor_key, ...route }: Route): string =>
  JSON.stringify({ ...route, visitor_key: Buffer.from(visitor_key).toString('hex') });

/** Leaves out lines that are damaged; throws where the first one is, and `NewerVersion` for one of a newer version. */
export function decodeSnapshot(text: string): Route[] {
  const lines = text.split('\n');
  const { snapshot: version = 1 }: { snapshot?: number } = JSON.parse(lines[0] ?? '');
  refuseNewer('A snapshot of routes', version, snapshotVersion);
  return (version === 1 ? lines : lines.slice(1)).flatMap(routeOf);
}

function routeOf(line: string): Route[] {
  try {
    const { visitor_key, ...route } = JSON.parse(line);
    return [{ disabled: false, ...route, visitor_key: Buffer.from(visitor_key, 'hex') }];
  } catch {
    return [];
  }
}
