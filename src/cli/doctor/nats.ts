import { type JetStreamManager, type NatsConnection, NatsError, type StreamInfo } from 'nats';
import { bytes, type Checks, error, isAtLeast, ok, warning } from './finding.ts';

const oldestVersion = [2, 9] as const;
const unlimited = -1;
/** The limit that the service sets for its stream (src/stream/jetstream.ts). */
const maxStreamBytes = 1024 * 1024 * 1024;

const isMissing = (thrown: unknown) => thrown instanceof NatsError && thrown.api_error?.code === 404;

/** Checks of NATS and of the stream that the relay publishes to. The checks write nothing. */
export function natsChecks(nats: NatsConnection, stream: string): Checks {
  const { version = '', jetstream = false, cluster } = nats.info ?? {};
  let manager: JetStreamManager | undefined;
  const jetStream = async () => {
    manager ??= await nats.jetstreamManager({ timeout: 5_000 });
    return manager;
  };
  const findStream = async (): Promise<StreamInfo | undefined> => {
    try {
      return await (await jetStream()).streams.info(stream);
    } catch (thrown) {
      if (isMissing(thrown)) return undefined;
      throw thrown;
    }
  };
  const checks: Checks = {
    version: () =>
      isAtLeast(version, oldestVersion)
        ? ok(`NATS ${version}.`)
        : error(`NATS ${version} is too old: upgrade it to 2.9 or newer.`),
    jetstream: () =>
      jetstream
        ? ok('JetStream is enabled.')
        : error(
            'JetStream is disabled on this server: start it with -js, or add "jetstream { store_dir: … }" to its configuration.',
          ),
  };
  if (!jetstream) return checks;
  return {
    ...checks,
    limits: async () => {
      const { limits, storage } = await (await jetStream()).getAccountInfo();
      if (limits.max_storage === unlimited) return ok(`This account has no storage limit; it uses ${bytes(storage)}.`);
      const found = await findStream();
      const left = limits.max_storage - storage + (found?.state.bytes ?? 0);
      return left >= maxStreamBytes
        ? ok(`This account may store ${bytes(limits.max_storage)} in files and uses ${bytes(storage)}.`)
        : error(
            `This account may store only ${bytes(left)} more in files, and the stream takes up to ${bytes(maxStreamBytes)}: raise its max_file_store.`,
          );
    },
    stream: async () => {
      const found = await findStream();
      if (found === undefined) return ok(`The stream ${stream} does not exist yet: the service creates it.`);
      const { config, state } = found;
      if (config.storage !== 'file')
        return error(
          `The stream ${stream} is kept in memory: stop the service, delete the stream, and start the service.`,
        );
      return ok(`The stream ${stream} holds ${bytes(state.bytes)} of at most ${bytes(config.max_bytes)}, in files.`);
    },
    replicas: async () => {
      if (cluster === undefined)
        return ok('One server, no cluster. If it loses its disk, the stream is filled from the log again.');
      const found = await findStream();
      if (found === undefined) return undefined;
      const replicas = found.config.num_replicas;
      const lagging = (found.cluster?.replicas ?? []).filter((peer) => peer.offline === true || !peer.current);
      if (lagging.length > 0)
        return warning(
          `Replicas of the stream are offline or lag (${lagging.map(({ name }) => name).join(', ')}): check those servers.`,
        );
      return replicas > 1
        ? ok(`The stream has ${replicas} replicas in the cluster ${cluster}.`)
        : warning(
            `The stream has one replica in the cluster ${cluster}, and is unavailable while that server is down: set NATS_REPLICAS=3.`,
          );
    },
  };
}
