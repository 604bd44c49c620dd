import { type EndpointKey, isSubscription } from '../../events/endpoint.ts';
import type { Mode } from '../../events/plans.ts';
import type { Sql } from '../log/connect.ts';
import { type Disabling, disable } from './commands.ts';
import { stop } from './subscriptions.ts';

/** Disables any webhook with the service as actor. Does nothing if the webhook is removed, paused or already disabled. */
export const disableEndpoint = (sql: Sql, key: EndpointKey, disabling: Disabling): Promise<void> =>
  isSubscription(key.mode)
    ? stop(sql, key, disabling)
    : disable(sql, { account: key.account, mode: key.mode as Mode }, disabling);
