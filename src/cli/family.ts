import type { LogEntry } from '../../events/entry.ts';
import type { ServiceConfig } from '../config.ts';
import { createTelling, revived, type Sibling, type SiblingMessage } from '../edge/siblings.ts';
import type { Logger } from '../lib/logger.ts';
import { type RunningService, type ServiceOptions, startService } from '../main.ts';

/** What a child process is started with: everything it needs, as the parent understood it. */
const childVariable = 'SCANLOG_CHILD';

const backOffMs = { first: 200, most: 10_000 };

/**
 * The service in as many processes as it shall have. The first one, this, has all roles; the others share its port and
 * serve the API and redirects. They are started again when they die, and end when this one does.
 */
export async function startFamily(config: ServiceConfig, log: Logger): Promise<RunningService> {
  if (config.edges === 1) return startService(config, { log });
  const children = new Set<Bun.Subprocess>();
  const telling = createTelling();
  let stopping = false;
  let service: RunningService;

  const siblings = (but?: Bun.Subprocess): Sibling[] => [...children].filter((child) => child !== but);
  const options: ServiceOptions = { log, onChange: (entries) => telling.tell(entries, siblings()) };
  service = await startService(config, options);
  await service.ready;

  async function hear(message: SiblingMessage, from: Bun.Subprocess): Promise<void> {
    if (message.kind === 'heard') telling.heard(message.id);
    if (message.kind !== 'changed') return;
    const entries = revived(message.entries);
    service.apply(entries);
    await telling.tell(entries, siblings(from));
    if (children.has(from)) from.send({ kind: 'heard', id: message.id } satisfies SiblingMessage);
  }

  function raise(backOff = backOffMs.first): void {
    const child = Bun.spawn([process.execPath, `${import.meta.dir}/../cli.ts`, 'serve'], {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, ...environmentOf({ ...config, port: service.port }), [childVariable]: '1' },
      ipc: (message: SiblingMessage, from) => void hear(message, from),
      onExit(_, code, signal) {
        children.delete(child);
        if (stopping) return;
        log.warn({ code, signal, again_in_ms: backOff }, 'an edge ended, starting another');
        setTimeout(() => stopping || raise(Math.min(backOff * 2, backOffMs.most)), backOff);
      },
    });
    children.add(child);
  }
  for (let i = 1; i < config.edges; i++) raise();

  return {
    ...service,
    async stop() {
      stopping = true;
      const exits = [...children].map((child) => child.exited);
      for (const child of children) child.send({ kind: 'stop' } satisfies SiblingMessage);
      await Promise.all(exits);
      await service.stop();
    },
  };
}

/** Settings for a child: those that the command line or the embedded stack decided are not in the environment. */
const environmentOf = (config: ServiceConfig): Record<string, string> => ({
  PORT: String(config.port),
  HOST: config.host,
  ...(config.publicUrl === undefined ? {} : { PUBLIC_URL: config.publicUrl }),
  DATABASE_URL: config.databaseUrl,
  NATS_URL: config.natsUrl,
  CLICKHOUSE_URL: config.clickhouseUrl,
  EDGE_DIR: config.edgeFolder,
  EDGES: String(config.edges),
  METRICS_PORT: '0',
  ROLES: config.roles.filter((role) => role === 'api' || role === 'edge').join(','),
  LOG_LEVEL: config.logLevel,
});

export const isChild = () => process.env[childVariable] === '1';

/** One of the other processes. */
export async function startChild(config: ServiceConfig, log: Logger, onStop: () => void): Promise<RunningService> {
  const telling = createTelling();
  const parent: Sibling = { send: (message) => process.send?.(message) };
  const onChange = (entries: LogEntry[]) => telling.tell(entries, [parent]);
  const service = await startService(config, { log, onChange });
  process.on('message', (message: SiblingMessage) => {
    if (message.kind === 'heard') telling.heard(message.id);
    if (message.kind === 'stop') onStop();
    if (message.kind !== 'changed') return;
    service.apply(revived(message.entries));
    parent.send({ kind: 'heard', id: message.id });
  });
  // Without its parent nobody would ever stop it.
  process.on('disconnect', onStop);
  return {
    ...service,
    async stop() {
      await service.stop();
      // The open channel would keep the process alive.
      process.disconnect?.();
    },
  };
}
