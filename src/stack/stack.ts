import type { Logger } from '../lib/logger.ts';
import { clickhousePlan, clickhouseUrl } from './clickhouse.ts';
import { announce, type DataDirectory, type RunningStack, readSecrets, retract } from './data-directory.ts';
import { natsPlan, natsUrl } from './nats.ts';
import { type Part, type PartPlan, startPart } from './part.ts';
import { postgresPlan } from './postgres.ts';
import { freePort } from './processes.ts';
import { serverUser } from './server-user.ts';
import { type DatabaseAddresses, prepareDatabase } from './service-role.ts';

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
  durable?: boolean;
  /** Aborts a start that is not complete. */
  signal?: AbortSignal;
}

/** Starts the servers that have no address in `given`, at the same time, each on a free port of loopback. */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { data, log, given = {}, onReady = () => {}, durable = true, signal } = options;
  const secrets = readSecrets(data);
  const [postgresPort, natsPort, clickhousePort] = await Promise.all([freePort(), freePort(), freePort()]);
  const plans: PartPlan[] = [
    ...(given.databaseUrl ? [] : [postgresPlan({ data, port: postgresPort, password: secrets.postgres, durable })]),
    ...(given.natsUrl ? [] : [natsPlan({ data, port: natsPort, password: secrets.nats })]),
    ...(given.clickhouseUrl ? [] : [clickhousePlan({ data, port: clickhousePort, password: secrets.clickhouse })]),
  ];
  const user = serverUser(data);
  if (user !== undefined && plans.length > 0)
    log.info(
      { user: user.name, parts: plans.map(({ name }) => name) },
      'started as root: the embedded servers run as another user',
    );
  const started = await Promise.allSettled(
    plans.map(async (plan) => {
      const startedAt = performance.now();
      const part = await startPart(plan, { data, log, signal });
      onReady(plan.name, performance.now() - startedAt);
      return part;
    }),
  );
  const parts = started.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const stop = async () => {
    retract(data);
    await Promise.all(parts.map((part) => part.stop()));
  };
  try {
    const failed = started.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    const { databaseUrl, adminDatabaseUrl }: DatabaseAddresses =
      given.databaseUrl === undefined
        ? await prepareDatabase(postgresPort, secrets)
        : { databaseUrl: given.databaseUrl, adminDatabaseUrl: given.databaseUrl };
    const running: RunningStack = {
      databaseUrl,
      natsUrl: given.natsUrl ?? natsUrl(natsPort, secrets.nats),
      clickhouseUrl: given.clickhouseUrl ?? clickhouseUrl(clickhousePort, secrets.clickhouse),
    };
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
  const port = await freePort();
  const plan = postgresPlan({ data, port, password: secrets.postgres, durable: true });
  const part = await startPart(plan, { data, log, signal });
  try {
    const { databaseUrl } = await prepareDatabase(port, secrets);
    return { databaseUrl, stop: part.stop };
  } catch (error) {
    await part.stop();
    throw error;
  }
}
