import type { JetStreamManager } from 'nats';
import type { Logger } from '../../src/lib/logger.ts';
import type { DataDirectory } from '../../src/stack/data-directory.ts';
import { natsPlan, natsUrl } from '../../src/stack/nats.ts';
import { freePort, until } from '../../src/stack/processes.ts';
import { connectStream } from '../../src/stream/connect.ts';
import { type BreakablePart, startBreakable } from './breakable-part.ts';

const clusterSize = 3;
const electionTimeoutMs = 120_000;

/** Three NATS servers on loopback that form a cluster. */
export interface NatsCluster {
  /** The addresses of all servers. */
  urls: string[];
  servers: BreakablePart[];
  /** All servers as one part: `kill` kills all of them. */
  all: BreakablePart;
  /** The server that leads a stream; waits until an election has ended. */
  leaderOf(stream: string): Promise<BreakablePart>;
}

export async function startNatsCluster({
  data,
  password,
  log,
}: {
  data: DataDirectory;
  password: string;
  log: Logger;
}): Promise<NatsCluster> {
  const nodes = Array.from({ length: clusterSize }, (_, i) => i);
  const ports = await Promise.all(nodes.map(freePort));
  const clusterPorts = await Promise.all(nodes.map(freePort));
  const servers = await Promise.all(
    nodes.map((i) => {
      const node = { number: i + 1, clusterPort: clusterPorts[i] as number, clusterPorts };
      return startBreakable(natsPlan({ data, port: ports[i] as number, password, node }), data, log);
    }),
  );
  const urls = ports.map((port) => natsUrl(port, password));
  /** Retries `read` until it finds something: during an election JetStream does not answer. */
  const retryRead = async <T>(
    what: string,
    read: (manager: JetStreamManager) => Promise<T | undefined>,
  ): Promise<T> => {
    const nats = await connectStream(urls.join(','), 'chaos', AbortSignal.timeout(electionTimeoutMs));
    try {
      let found: T | undefined;
      await until(async () => {
        const manager = await nats.jetstreamManager({ timeout: 2_000, checkAPI: false });
        found = await read(manager).catch(() => undefined);
        return found !== undefined;
      }, electionTimeoutMs);
      if (found === undefined)
        throw new Error(`no NATS server became the leader of ${what} within ${electionTimeoutMs} ms`);
      return found;
    } finally {
      await nats.close();
    }
  };
  const each = async (act: (server: BreakablePart) => Promise<void>) => void (await Promise.all(servers.map(act)));
  await retryRead('the cluster', (manager) => manager.getAccountInfo());
  return {
    urls,
    servers,
    all: {
      kill: () => each((server) => server.kill()),
      restart: () => each((server) => server.restart()),
      pause: () => servers.forEach((server) => void server.pause()),
      resume: () => servers.forEach((server) => void server.resume()),
      stop: () => each((server) => server.stop()),
      discard: () => each((server) => server.discard()),
    },
    leaderOf: (stream) =>
      retryRead(`the stream ${stream}`, async (manager) => {
        const leader = (await manager.streams.info(stream)).cluster?.leader;
        return servers[Number(leader?.replace('nats-', '')) - 1];
      }),
  };
}
