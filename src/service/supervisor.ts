import type { Change } from '../../events/entry.ts';
import type { ServiceConfig } from '../config/config.ts';
import type { Role } from '../config/roles.ts';
import { backoff } from '../lib/backoff.ts';
import type { Logger } from '../lib/logger.ts';
import { lowerPriority } from '../lib/lower-priority.ts';
import { fileVariableOf } from '../lib/secret-file.ts';
import { timeouts } from '../lib/timeouts.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import { type Peer, type PeerMessage, PeerRequests, reviveEntries } from './peers.ts';
import { type RunningService, startService } from './start.ts';
import { stopTimeoutMs } from './stopping.ts';

const childVariable = 'SCANLOG_CHILD';
const stopRetryMs = 200;
/** Longer than the timeout a child sets itself. */
const killAfterMs = stopTimeoutMs.child + 1_000;
const backoffOptions = { firstMs: 200, maxMs: 10_000, resetAfterMs: 30_000 };

interface Child extends Peer {
  process: Bun.Subprocess;
  /** Serves short links, so it receives every change of a code. */
  isEdge: boolean;
}

const servesRequests = (role: Role) => role === 'api' || role === 'edge';

/**
 * Runs the service in several processes: this one and `edges - 1` others share the port, and another one runs the relay
 * and the projections, so that redirects do not wait for them. Child processes are restarted when they exit, and stop
 * with this one.
 */
export async function startSupervised(config: ServiceConfig, log: Logger): Promise<RunningService> {
  const roles = config.roles.filter(servesRequests);
  if (roles.length === 0) return startService(config, { log });
  const children = new Set<Child>();
  const requests = new PeerRequests();
  const service = await startService(
    { ...config, roles },
    {
      log,
      onChange: async (entries) => void (await requests.send({ kind: 'changed', entries }, edgesOf(children))),
      otherMetrics: async () =>
        (await requests.send({ kind: 'metrics' }, children)).flatMap(({ metrics }) =>
          metrics === undefined ? [] : [metrics],
        ),
    },
  );
  const supervisor = new Supervisor({ config, log, service, children, requests });
  // A first start is faster if one process alone migrates the database. While Postgres or NATS is unavailable, this
  // process does not get ready and the children start anyway: edges from their snapshots, the others retry.
  const started = withTimeout(service.ready, timeouts.startChildrenMs, () => {}).then(() => supervisor.startChildren());
  const ready = Promise.all([service.ready, started]).then(() => {});
  ready.catch(() => {});
  return { ...service, ready, stop: () => supervisor.stop() };
}

const edgesOf = (children: Iterable<Child>, except?: Bun.Subprocess) =>
  [...children].filter(({ isEdge, process }) => isEdge && process !== except);

/**
 * Bun lets garbage grow with the memory of the machine, and returns freed memory to it late. With these, projections under an attack
 * take about 140 MB instead of 210 to 290. Not for edges: collections that often would delay their redirects. Edges have the settings that
 * ./scanlog starts this process with, and the last two of these are Bun's own instead.
 */
const smallHeap = {
  BUN_JSC_forceRAMSize: String(128 * 1024 ** 2),
  MIMALLOC_PURGE_DELAY: '0',
  BUN_JSC_heapGrowthFunctionThresholdInMB: '16384',
  BUN_JSC_minEdenToOldGenerationRatio: String(1 / 3),
};

interface SupervisorParts {
  config: ServiceConfig;
  log: Logger;
  service: RunningService;
  children: Set<Child>;
  requests: PeerRequests;
}

class Supervisor {
  readonly #config: ServiceConfig;
  readonly #log: Logger;
  readonly #service: RunningService;
  readonly #children: Set<Child>;
  readonly #requests: PeerRequests;
  #stopping = false;

  constructor({ config, log, service, children, requests }: SupervisorParts) {
    this.#config = config;
    this.#log = log;
    this.#service = service;
    this.#children = children;
    this.#requests = requests;
  }

  startChildren(): void {
    if (this.#stopping) return;
    const { roles, edges } = this.#config;
    const background = roles.filter((role) => !servesRequests(role));
    if (background.length > 0) this.#startChild(background, false);
    for (let i = 1; i < edges; i++) this.#startChild(roles.filter(servesRequests), true);
  }

  #startChild(roles: Role[], isEdge: boolean, restarts = backoff(backoffOptions)): void {
    const startedAt = performance.now();
    const settings = childSettings(this.#config, this.#service, roles, isEdge);
    const subprocess = Bun.spawn([process.execPath, `${import.meta.dir}/../cli.ts`, 'serve'], {
      stdio: ['ignore', 'inherit', 'inherit'],
      // The others are in a session of their own, so that their CPU is not taken from the share of redirects.
      detached: !isEdge,
      env: {
        ...process.env,
        ...(isEdge ? {} : smallHeap),
        ...withoutFileSecrets(environmentOf(settings)),
        [childVariable]: '1',
      },
      ipc: (message: PeerMessage, from) => void this.#receive(message, from).catch(() => {}),
      onExit: (_, code, signal) => {
        this.#children.delete(child);
        if (this.#stopping) return;
        const delayMs = restarts.nextMs(performance.now() - startedAt);
        this.#log.warn({ roles, code, signal, again_in_ms: delayMs }, 'a service process exited and is restarted');
        setTimeout(() => this.#stopping || this.#startChild(roles, isEdge, restarts), delayMs);
      },
    });
    const child: Child = {
      process: subprocess,
      isEdge,
      send: (message) => {
        if (this.#children.has(child) && subprocess.exitCode === null && subprocess.signalCode === null)
          subprocess.send(message);
      },
    };
    this.#children.add(child);
  }

  /** Applies a change that a child has committed, and forwards it to the other edges before it confirms. */
  async #receive(message: PeerMessage, from: Bun.Subprocess): Promise<void> {
    if (message.kind === 'response') this.#requests.receive(message);
    if (message.kind !== 'changed') return;
    const entries = reviveEntries(message.entries);
    this.#service.apply(entries);
    await this.#requests.send({ kind: 'changed', entries }, edgesOf(this.#children, from));
    from.send({ kind: 'response', id: message.id } satisfies PeerMessage);
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    const exits = [...this.#children].map((child) => child.process.exited);
    this.#sendStop();
    // Repeated, because a child that has just been started does not listen yet.
    const retry = setInterval(() => this.#sendStop(), stopRetryMs);
    const kill = setTimeout(() => {
      for (const child of this.#children) child.process.kill('SIGKILL');
    }, killAfterMs);
    await Promise.all(exits);
    clearInterval(retry);
    clearTimeout(kill);
    await this.#service.stop();
  }

  #sendStop(): void {
    for (const child of this.#children) {
      try {
        child.send({ kind: 'stop' });
      } catch {
        // The child has closed its channel and is about to exit.
      }
    }
  }
}

/** Settings of a child. Links in the mails of the background process lead to the service, not to the port of that process. */
export function childSettings(
  config: ServiceConfig,
  { port, addresses }: Pick<RunningService, 'port' | 'addresses'>,
  roles: Role[],
  isEdge: boolean,
): ServiceConfig {
  if (isEdge) return { ...config, roles, port };
  return { ...config, roles, port: 0, edges: 1, host: '127.0.0.1', publicUrl: addresses.publicUrl };
}

/** Environment of a child: flags and addresses of embedded servers are not in the environment of this process. */
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
  ...(config.edgeDurability === undefined ? {} : { EDGE_DURABILITY: config.edgeDurability }),
  EDGES: String(config.edges),
  // The parent collects the metrics of its children and serves the sum; a child opens no port to the network.
  METRICS_HOST: '127.0.0.1',
  METRICS_PORT: '0',
  ROLES: config.roles.join(','),
  LOG_LEVEL: config.logLevel,
  TIMEOUT_SCALE: String(config.timeoutScale),
});

/** Secrets that were given by file stay out of the environment: the child reads the same files. */
const withoutFileSecrets = (variables: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(variables).filter(([name]) => !process.env[fileVariableOf(name)]));

export const isChild = () => process.env[childVariable] === '1';

/** Runs the service in a child process that `startSupervised` has started. */
export async function startChild(config: ServiceConfig, log: Logger, onStop: () => void): Promise<RunningService> {
  // The relay and projections may wait for a core; a redirect may not.
  if (!config.roles.some(servesRequests)) void lowerPriority();
  const requests = new PeerRequests();
  const parent: Peer = { send: (message) => process.send?.(message) };
  const onChange = async (entries: Change[]) => void (await requests.send({ kind: 'changed', entries }, [parent]));
  let running: RunningService | undefined;
  const early: Change[] = [];
  process.on('message', async (message: PeerMessage) => {
    if (message.kind === 'response') requests.receive(message);
    if (message.kind === 'stop') onStop();
    if (message.kind === 'metrics')
      parent.send({ kind: 'response', id: message.id, ...(running && { metrics: await running.metrics() }) });
    if (message.kind !== 'changed') return;
    const entries = reviveEntries(message.entries);
    if (running === undefined) early.push(...entries);
    else running.apply(entries);
    parent.send({ kind: 'response', id: message.id });
  });
  // Without its parent, no process would send the stop message.
  process.on('disconnect', onStop);
  const service = await startService(config, { log, onChange, joinsPort: config.roles.some(servesRequests) });
  service.apply(early);
  running = service;
  return {
    ...service,
    async stop() {
      await service.stop();
      // The open channel would keep the process alive.
      process.disconnect?.();
    },
  };
}
