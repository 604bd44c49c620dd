import type { Elysia } from 'elysia';
import type { Change } from '../../events/entry.ts';
import { serveApi } from '../api/v1.ts';
import { oidcOf } from '../config/oidc-settings.ts';
import { serveConsole } from '../console/serve.ts';
import { Feed } from '../feed/feed.ts';
import type { ServiceContext, ServiceOptions, Started } from './context.ts';
import { createDomainChecker } from './domain-checks.ts';
import { wakeRelay } from './wake-relay.ts';

/** The role `api`: the API with its documentation, and the console. */
export function serveApiAndConsole(
  app: Elysia,
  context: ServiceContext,
  started: Started,
  onChange: ServiceOptions['onChange'],
): void {
  const { config, addresses, log, clock, metrics, sql, warehouse, webhooks, mail, stopping, cleanup, tracing } =
    context;
  const stream = () => (started.nats === undefined ? undefined : { nats: started.nats, name: started.stream });
  const publish = (entries: Change[]) => publishChanges(entries, started, onChange);
  const parts = {
    feed: new Feed({ sql, stream, stopping, log, maxStreams: config.maxEventStreams }),
    sql,
    warehouse,
    clock,
    addresses,
    webhooks,
    mail,
    domains: createDomainChecker(context, publish),
    maxLogos: config.maxLogos,
    signup: config.signup,
    signupPlan: config.signupPlan,
    oidc: oidcOf(config),
    limits: { testCodes: config.maxTestCodes, givenShortCodes: config.maxGivenShortCodes },
    tracing,
    onChange: publish,
  };
  const { trustedProxies } = config;
  const api = serveApi(app, parts, { trustedProxies, log, isReady: () => started.isReady });
  cleanup.add(api.close);
  serveConsole(app, parts, api, { log, metrics });
}

/** A committed change reaches this process's routes, then the relay, then the other processes of this machine. */
async function publishChanges(
  entries: Change[],
  started: Started,
  onChange: ServiceOptions['onChange'],
): Promise<void> {
  if (entries.length === 0) return;
  started.edge?.apply(entries);
  wakeRelay(started);
  await onChange?.(entries);
}
