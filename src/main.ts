import { Elysia } from 'elysia';
import { serveHealth } from './api/health.ts';
import { sweepRegularly } from './api/sweep.ts';
import { serveApi } from './api/v1.ts';
import { type Addresses, addressesOf, type ServiceConfig } from './config.ts';
import { type Clock, systemClock } from './lib/clock.ts';
import { messageOf, StartError } from './lib/errors.ts';
import type { Logger } from './lib/logger.ts';
import { connect } from './log/connect.ts';
import { migrate } from './log/migrate.ts';
import { connectStream } from './stream/connect.ts';
import { connectWarehouse, pingWarehouse } from './warehouse/connect.ts';

export interface RunningService {
  port: number;
  addresses: Addresses;
  stop(): Promise<void>;
}

/** How long requests that are under way at the end may take. */
const drainMs = 5_000;

/** Puts the roles together and starts them. */
export async function startService(
  config: ServiceConfig,
  { log, clock = systemClock }: { log: Logger; clock?: Clock },
): Promise<RunningService> {
  const stops: (() => unknown)[] = [];
  const stop = async () => {
    for (const step of stops.splice(0).reverse()) await step();
  };
  try {
    // First of all, since a port that is taken should be heard of before anything else happens.
    const server = listen(config);
    stops.push(() => drain(server));
    const port = server.port ?? 0;
    const addresses = addressesOf(config, port);

    const sql = connect(config.databaseUrl, { max: 20 });
    stops.push(() => sql.end({ timeout: 2 }));
    const applied = await migrate(sql);
    if (applied.length > 0) log.info({ migrations: applied }, 'database brought up to date');
    const nats = await connectStream(config.natsUrl, 'scanlog');
    stops.push(() => nats.close());
    const warehouse = connectWarehouse(config.clickhouseUrl);
    stops.push(() => warehouse.close());

    const app = new Elysia({ serve: {} });
    serveHealth(
      app,
      { postgres: () => sql`SELECT 1`, nats: () => nats.flush(), clickhouse: () => pingWarehouse(warehouse) },
      log,
    );
    if (config.roles.includes('api')) {
      await serveApi(app, { sql, clock, addresses }, { trustedProxies: config.trustedProxies, log });
      app.get('/', () => new Response(null, { status: 302, headers: { location: '/swagger' } }), {
        detail: { hide: true },
      });
      stops.push(sweepRegularly(sql, log));
    }
    app.server = server;
    server.reload({ fetch: app.fetch });
    return { port, addresses, stop };
  } catch (error) {
    await stop();
    throw error instanceof StartError ? error : new StartError(`The service could not start: ${messageOf(error)}`);
  }
}

/** Takes no new connections, lets requests that are under way finish, then closes the idle ones too. */
async function drain(server: Bun.Server<undefined>): Promise<void> {
  server.stop();
  const deadline = performance.now() + drainMs;
  while (server.pendingRequests > 0 && performance.now() < deadline) await Bun.sleep(10);
  server.stop(true);
}

function listen({ port, host }: ServiceConfig): Bun.Server<undefined> {
  const starting = () => new Response('starting', { status: 503, headers: { 'retry-after': '1' } });
  try {
    return Bun.serve({ port, hostname: host, fetch: starting });
  } catch (error) {
    throw new StartError(
      `Port ${port} on ${host} cannot be listened on (${messageOf(error)}): choose another with --port.`,
    );
  }
}
