import { changeBy } from '../events/code-change.ts';
import type { CodeEvent } from '../events/code-events.ts';
import type { Recorded } from '../events/recorded.ts';
import type { Route } from '../events/route.ts';
import { changeTargetingBy, noTargeting } from '../events/targeting/targeting.ts';

export type { Route } from '../events/route.ts';

/**
 * Applies an event to a route. Returns undefined when events in between, or what is not in events, are missing: the caller must reload from `codes`.
 *
 * Routes are kept in each edge's memory, loaded from `codes` on a miss. They need no checkpoint, because each has a version,
 * and no rebuild, because they can be dropped.
 */
export function applyToRoute(route: Route, event: Recorded<CodeEvent>): Route | undefined {
  if (event.version <= route.version) return route;
  if (event.version > route.version + 1) return undefined;
  // The hash is not in the log.
  if (event.type === 'password_changed') return undefined;
  return { ...route, ...changeOf(route, event), version: event.version };
}

function changeOf(route: Route, event: Recorded<CodeEvent>): Partial<Route> {
  if (event.type === 'code_created') return {};
  if (event.type === 'code_erased')
    return { status: 'deleted', destination_url: '', sealed_key: new Uint8Array(), targeting: undefined };
  const change = changeBy(event);
  const { destination_url, destination_revision, status, disabled_at, has_password } = change;
  const isTargeted = Object.keys(change).some((field) => Object.hasOwn(noTargeting, field));
  return {
    ...(isTargeted ? { targeting: changeTargetingBy(route.targeting, change) } : {}),
    ...(destination_url === undefined ? {} : { destination_url }),
    ...(destination_revision === undefined ? {} : { revision: destination_revision }),
    ...(status === undefined ? {} : { status }),
    ...(disabled_at === undefined ? {} : { disabled: disabled_at !== null }),
    ...(has_password === null ? { password_hash: undefined } : {}),
    ...(status === 'deleted' ? { sealed_key: new Uint8Array() } : {}),
  };
}
