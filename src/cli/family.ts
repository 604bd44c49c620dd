import { setTimeout as sleep } from 'node:timers/promises';
import type { Change } from '../../events/entry.ts';
import type { Role, ServiceConfig } from '../config.ts';
import { createAsking, revived, type Sibling, type SiblingMessage } from '../edge/siblings.ts';
import type { Logger } from '../lib/logger.ts';
import { stepBack } from '../lib/step-back.ts';
import { type RunningService, startService } from '../main.ts';
import { stopWithinMs } from './stopping.ts';

const childVariable = 'SCANLOG_CHILD';
const stopAgainMs = 200;
/** When this process is not ready by then, the others start without waiting for it. */
const othersAfterMs = 2_000;
/** Longer than a member gives itself. */
const killAfterMs = stopWithinMs.member + 1_000;
const backOffMs = { first: 200, most: 10_000, forgivenAfter: 30_000 };

interface Member extends Sibling {
  process: Bun.Subprocess;
  /** Whether it serves short links, and so must hear of changes. */
  isEdge: boolean;
}

const inFront = (role: Role) => role === 'api' || role === 'edge';

/**
 * The service in as many processes as it shall have: this one, in front; others that share its port; and one for what
 * goes on behind, so that no redirect waits while the relay or a projection is at work. They are started again when they
 * die, and end when this one does.
 */
export async function startFamily(config: ServiceConfig, log: Logger): Promise<RunningService> {
  const front = config.roles.filter(inFront);
  const behind = config.roles.filter((role) => !inFront(role));
  if (front.length === 0) return startService(config, { log });
  const members = new Set<Member>();
  const asking = createAsking();
  let stopping = false;

  const edges = (but?: Bun.Subprocess) => [...members].filter(({ isEdge, process }) => isEdge && process !== but);
  const service = await startService(
    { ...config, roles: front },
    {
      log,
      onChange: async (entries) => void (await asking.ask({ kind: 'changed', entries }, edges())),
      otherMetrics: async () =>
        (await asking.ask({ kind: 'metrics' }, members)).flatMap(({ metrics }) =>
          metrics === undefined ? [] : [metrics],
        ),
    },
  );

  async function hear(message: SiblingMessage, from: Bun.Subprocess): Promise<void> {
    if (message.kind === 'answer') asking.answered(message);
    if (message.kind !== 'changed') return;
    const entries = revived(message.entries);
    service.apply(entries);
    await asking.ask({ kind: 'changed', entries }, edges(from));
    from.send({ kind: 'answer', id: message.id } satisfies SiblingMessage);
  }

  function raise(roles: Role[], isEdge: boolean, backOff = backOffMs.first): void {
    const started = performance.now();
    const place = isEdge ? { port: service.port, edges: config.edges } : { port: 0, edges: 1, host: '127.0.0.1' };
    const settings = { ...config, roles, ...place };
    const child = Bun.spawn([process.execPath, `${import.meta.dir}/../cli.ts`, 'serve'], {
      stdio: ['ignore', 'inherit', 'inherit'],
      // A session of its own, to be weighed against this one; it hears from us when to stop.
      detached: true,
      env: { ...process.env, ...environmentOf(settings), [childVariable]: '1' },
      ipc: (message: SiblingMessage, from) => void hear(message, from).catch(() => {}),
      onExit(_, code, signal) {
        members.delete(member);
        if (stopping) return;
        const wait = performance.now() - started > backOffMs.forgivenAfter ? backOffMs.first : backOff;
        log.warn({ roles, code, signal, again_in_ms: wait }, 'a process ended, starting another');
        setTimeout(() => stopping || raise(roles, isEdge, Math.min(wait * 2, backOffMs.most)), wait);
      },
    });
    const member: Member = {
      process: child,
      isEdge,
      send: (message) => {
        if (members.has(member) && child.exitCode === null && child.signalCode === null) child.send(message);
      },
    };
    members.add(member);
  }

  const raiseOthers = () => {
    if (stopping) return;
    if (behind.length > 0) raise(behind, false);
    for (let i = 1; i < config.edges; i++) raise(front, true);
  };
  // A first start is faster when one process alone migrates the database. While Postgres or NATS is unavailable this one
  // does not get ready, and the others start all the same: edges from their snapshots, the rest waits by itself.
  const others = Promise.race([service.ready, sleep(othersAfterMs, undefined, { ref: false })]).then(raiseOthers);
  const ready = Promise.all([service.ready, others]).then(() => {});
  ready.catch(() => {});

  return {
    ...service,
    ready,
    async stop() {
      stopping = true;
      const exits = [...members].map((member) => member.process.exited);
      const ask = () => {
        for (const member of members) {
          try {
            member.send({ kind: 'stop' });
          } catch {
            // It has closed its side already, and is about to end.
          }
        }
      };
      ask();
      // One that has just been started does not listen yet.
      const again = setInterval(ask, stopAgainMs);
      const kill = setTimeout(() => {
        for (const member of members) member.process.kill('SIGKILL');
      }, killAfterMs);
      await Promise.all(exits);
      clearInterval(again);
      clearTimeout(kill);
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
  ...(config.clickhouseRebuildAfterSeconds === undefined
    ? {}
    : { CLICKHOUSE_REBUILD_AFTER_SECONDS: String(config.clickhouseRebuildAfterSeconds) }),
  SECRET_KEY: config.secretKey,
  EDGE_DIR: config.edgeFolder,
  EDGES: String(config.edges),
  // Asked for by the parent, which shows the sum: nothing of a child is for the network.
  METRICS_HOST: '127.0.0.1',
  METRICS_PORT: '0',
  ROLES: config.roles.join(','),
  LOG_LEVEL: config.logLevel,
});

export const isChild = () => process.env[childVariable] === '1';

/** One of the other processes. */
export async function startChild(config: ServiceConfig, log: Logger, onStop: () => void): Promise<RunningService> {
  // What goes on behind can wait a moment; a redirect cannot.
  if (!config.roles.some(inFront)) stepBack();
  const asking = createAsking();
  const parent: Sibling = { send: (message) => process.send?.(message) };
  const onChange = async (entries: Change[]) => void (await asking.ask({ kind: 'changed', entries }, [parent]));
  const service = await startService(config, { log, onChange });
  process.on('message', async (message: SiblingMessage) => {
    if (message.kind === 'answer') asking.answered(message);
    if (message.kind === 'stop') onStop();
    if (message.kind === 'metrics') parent.send({ kind: 'answer', id: message.id, metrics: await service.metrics() });
    if (message.kind !== 'changed') return;
    service.apply(revived(message.entries));
    parent.send({ kind: 'answer', id: message.id });
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
