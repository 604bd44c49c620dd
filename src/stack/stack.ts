import type { Logger } from '../lib/logger.ts';
import { clickhousePlan, clickhouseUrl } from './clickhouse.ts';
import { announce, type DataDirectory, type RunningStack, readSecrets, retract } from './data-directory.ts';
import { lowerSessions } from './lower-sessions.ts';
import { natsPlan, natsUrl } from './nats.ts';
import { type ListeningPart, type Part, type PartPlan, startOnFreePort } from './part.ts';
import { postgresPlan } from './postgres.ts';
import { childrenOf } from './processes.ts';
import { serverUser } from './server-user.ts';
import { prepareDatabase } from './service-role.ts';

export interface Stack extends RunningStack {
  /** URL for the superuser of the embedded Postgres, for tests and benchmarks that create databases. */
  adminDatabaseUrl: string;
  parts: Part[];
  stop(): Promise<void>;
}

export interface StackOptions {
  data: DataDirectory;
  log: Logger;
  /** Addresses of servers that run elsewhere; the others are started here. */
  given?: Partial<RunningStack>;
  /** Called when a part is ready. */
  onReady?: (part: PartPlan['name'], ms: number) => void;
  /** False for tests: their servers may lose what was written when the machine fails, and work as fast as they can. */
  durable?: boolean;
  /** Aborts a start that is not complete. */
  signal?: AbortSignal;
}

/** Starts the servers that have no address in `given`, at the same time, each on a free port of loopback. */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { data, log, given = {}, onReady = () => {}, durable = true, signal } = options;
  const secrets = readSecrets(data);
  const parts: Part[] = [];
  let lowering: ReturnType<typeof lowerSessions> | undefined;
  const start = async (planFor: (port: number) => PartPlan): Promise<ListeningPart> => {
    const startedAt = performance.now();
    const part = await startOnFreePort(planFor, { data, log, signal });
    parts.push(part);
    onReady(part.name, performance.now() - startedAt);
    return part;
  };
  const user = serverUser(data);
  const missing = [
    given.databaseUrl === undefined ? 'postgres' : [],
    given.natsUrl === undefined ? 'nats' : [],
    given.clickhouseUrl === undefined ? 'clickhouse' : [],
  ].flat();
  if (user !== undefined && missing.length > 0)
    log.info({ user: user.name, parts: missing }, 'started as root: the embedded servers run as another user');
  const starting = [
    given.databaseUrl === undefined
      ? start((port) => postgresPlan({ data, port, password: secrets.postgres, durable })).then(({ port, pid }) => {
          const processes = () => childrenOf(pid() ?? 0);
          if (durable) lowering = lowerSessions({ processes, port, password: secrets.postgres });
          return prepareDatabase(port, secrets);
        })
      : { databaseUrl: given.databaseUrl, adminDatabaseUrl: given.databaseUrl },
    given.natsUrl ??
      start((port) => natsPlan({ data, port, password: secrets.nats })).then(({ port }) => natsUrl(port, secrets.nats)),
    given.clickhouseUrl ??
      start((port) => clickhousePlan({ data, port, password: secrets.clickhouse, isBelowRedirects: durable })).then(
        ({ port }) => clickhouseUrl(port, secrets.clickhouse),
      ),
  ] as const;
  // None is left behind when another one fails.
  await Promise.allSettled(starting);
  const stop = async () => {
    retract(data);
    await lowering?.stop();
    await Promise.all(parts.map((part) => part.stop()));
  };
  try {
    const [{ databaseUrl, adminDatabaseUrl }, nats, clickhouse] = await Promise.all(starting);
    const running: RunningStack = { databaseUrl, natsUrl: nats, clickhouseUrl: clickhouse };
    announce(data, running);
    return { ...running, adminDatabaseUrl, parts, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Starts only Postgres, for a command on a directory that no service runs on. Its address is not announced. */
export async function startPostgres({
  data,
  log,
  signal,
}: Pick<StackOptions, 'data' | 'log' | 'signal'>): Promise<{ databaseUrl: string; stop(): Promise<void> }> {
  const secrets = readSecrets(data);
  const part = await startOnFreePort(
    (port) => postgresPlan({ data, port, password: secrets.postgres, durable: true }),
    { data, log, signal },
  );
  try {
    const { databaseUrl } = await prepareDatabase(part.port, secrets);
    return { databaseUrl, stop: part.stop };
  } catch (error) {
    await part.stop();
    throw error;
  }
}
