import { loseStorage } from './breakable-part.ts';
import type { Mood } from './receiver.ts';
import type { ServiceProcess } from './service-process.ts';
import type { World } from './world.ts';

/** The name that services give their stream where NATS_STREAM is not set. */
const defaultStream = 'scanlog';

/**
 * The faults that nobody may lose a scan by. Each lasts as long as `meanwhile`, and mends what it broke, also when that
 * throws.
 */
type Meanwhile = () => Promise<unknown>;

/** `kill -9` of Postgres. */
export async function withoutPostgres({ postgres }: World, meanwhile: Meanwhile): Promise<void> {
  await postgres.kill();
  await meanwhile().finally(postgres.comeBack);
}

/** Postgres keeps its connections and answers nothing. */
export async function withPostgresStanding({ postgres }: World, meanwhile: Meanwhile): Promise<void> {
  postgres.pause();
  await meanwhile().finally(postgres.resume);
}

/** `kill -9` of the Postgres primary, whose synchronous replica is promoted behind the same address. */
export async function withFailover({ postgres }: World, meanwhile: Meanwhile): Promise<void> {
  await postgres.addReplica('synchronous');
  await postgres.failOver(meanwhile);
}

/** `kill -9` of NATS. */
export async function withoutNats({ nats }: World, meanwhile: Meanwhile): Promise<void> {
  await nats.kill();
  await meanwhile().finally(nats.comeBack);
}

/** `kill -9` of NATS, and all that it had stored is gone. */
export async function withoutStreamStorage(world: World, meanwhile: Meanwhile): Promise<void> {
  await withoutNats(world, async () => {
    loseStorage(world.natsFolder);
    await meanwhile();
  });
}

/** `kill -9` of the server that leads the stream, in a world with a NATS cluster. */
export async function withoutNatsLeader({ natsCluster }: World, meanwhile: Meanwhile): Promise<void> {
  if (natsCluster === undefined) return;
  const leader = await natsCluster.leaderOf(defaultStream);
  await leader.kill();
  await meanwhile().finally(leader.comeBack);
}

/** `kill -9` of ClickHouse. */
export async function withoutClickHouse({ clickhouse }: World, meanwhile: Meanwhile): Promise<void> {
  await clickhouse?.part.kill();
  await meanwhile().finally(clickhouse?.part.comeBack);
}

/** `kill -9` of ClickHouse, and all that it had stored is gone. */
export async function withoutWarehouseStorage(world: World, meanwhile: Meanwhile): Promise<void> {
  await withoutClickHouse(world, async () => {
    if (world.clickhouse !== undefined) loseStorage(world.clickhouse.folder);
    await meanwhile();
  });
}

/** ClickHouse keeps its connections and answers nothing. */
export async function withClickHouseStanding({ clickhouse }: World, meanwhile: Meanwhile): Promise<void> {
  clickhouse?.part.pause();
  await meanwhile().finally(clickhouse?.part.resume);
}

/** Half of the statements get the answers of a cluster in trouble. */
export async function withClickHouseInTrouble({ clickhouse }: World, meanwhile: Meanwhile): Promise<void> {
  if (clickhouse === undefined) throw new Error('this world has no warehouse');
  clickhouse.httpProxy.rate = 0.5;
  await meanwhile().finally(() => {
    clickhouse.httpProxy.rate = 0;
  });
}

/** `kill -9` of a service, which is then started again. */
export async function withoutService(service: ServiceProcess, meanwhile: Meanwhile): Promise<void> {
  await service.kill();
  await meanwhile().finally(() => service.start());
}

/** A service stands still: a machine that swaps, or is moved. */
export async function withServiceStanding(service: ServiceProcess, meanwhile: Meanwhile): Promise<void> {
  service.pause();
  await meanwhile().finally(service.resume);
}

/** `kill -9` of a service while Postgres is away, and its start without Postgres: it has what it left on disk. */
export async function withServiceRestartedAlone(
  world: World,
  service: ServiceProcess,
  meanwhile: Meanwhile,
): Promise<void> {
  await withoutPostgres(world, async () => {
    await service.kill();
    await service.start(false);
    await meanwhile();
  });
}

/** The receiver of the webhook misbehaves. */
export async function withReceiver(
  { receiver }: Pick<World, 'receiver'>,
  mood: Mood,
  meanwhile: Meanwhile,
): Promise<void> {
  if (receiver === undefined) throw new Error('this world has no webhook');
  receiver.mood = mood;
  await meanwhile().finally(() => {
    receiver.mood = 'well';
  });
}
