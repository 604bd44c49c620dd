import type { Bans } from './bans.ts';
import type { KnownRoute } from './routes.ts';

type Subject = Pick<KnownRoute, 'status' | 'account' | 'destination_url' | 'disabled'>;

/** Why a route is not redirected. A deleted code is reported as deleted even if the operator has banned it. */
export function inactiveReason(route: Subject, bans: Bans): 'deleted' | 'disabled' | 'paused' | 'draft' | undefined {
  if (route.status !== 'deleted' && bans.covers(route)) return 'disabled';
  return route.status === 'active' ? undefined : route.status;
}
