import { type CodeEvent, changeBy } from '../events/code.ts';
import type { Mode } from '../events/plans.ts';
import type { Recorded } from '../events/recorded.ts';

/** What an edge needs to know about a code to redirect and record a scan. */
export interface Route {
  code: string;
  account: string;
  mode: Mode;
  short_code: string;
  destination_url: string;
  revision: number;
  status: 'active' | 'paused' | 'draft' | 'deleted';
  /** Of the code's stream: events up to it are in here already. */
  version: number;
  /** Under which visitors are hashed; empty once the code is deleted. */
  visitor_key: Uint8Array;
}

/**
 * Routes live in each edge's memory: filled from `codes` on a miss, kept current by the events of codes, and so rebuilt
 * by forgetting them. They have no checkpoint: a route carries the version it has. Nothing when events in between are
 * missing: then only `codes` can tell.
 */
export function applyToRoute(route: Route, event: Recorded<CodeEvent>): Route | undefined {
  if (event.version <= route.version) return route;
  if (event.version > route.version + 1) return undefined;
  return { ...route, ...changeOf(event), version: event.version };
}

function changeOf(event: CodeEvent): Partial<Route> {
  if (event.type === 'code_created') return {};
  const { destination_url, destination_revision, status } = changeBy(event);
  return {
    ...(destination_url === undefined ? {} : { destination_url }),
    ...(destination_revision === undefined ? {} : { revision: destination_revision }),
    ...(status === undefined ? {} : { status }),
    ...(status === 'deleted' ? { visitor_key: new Uint8Array() } : {}),
  };
}
