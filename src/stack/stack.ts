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
  /** For the superuser of the embedded Postgres, which creates databases: for tests and benchmarks, not for the service. */
  adminDatabaseUrl: string;
  parts: Part[];
  stop(): Promise<void>;
}

export interface StackOptions {
  data: DataDirectory;
  log: Logger;
  /** Parts that run elsewhere already; the others are started here. */
  given?: Partial<RunningStack>;
  /** Told when a part answers, for whoever watches the start. */
  onReady?: (part: PartPlan['name'], ms: number) => void;
  durable?: boolean;
  /** Ends a start that is under way. */
  signal?: AbortSignal;
}

/** Starts the parts that have no address yet, each on a free port of loopback, all at once. */
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
      'started as root: the servers run as this user',
    );
  const started = await Promise.allSettled(
    plans.map(async (plan) => {
      const before = performance.now();
      const part = await startPart(plan, { data, log, signal });
      onReady(plan.name, performance.now() - before);
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

/** Postgres alone, for work on the log of a directory that no service runs on. Nobody else is told of it. */
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
