import { deleteStorage } from './breakable-part.ts';
import type { ReceiverMode } from './receiver.ts';
import type { ServiceProcess } from './service-process.ts';
import type { World } from './world.ts';

/** The default of NATS_STREAM. */
const defaultStream = 'scanlog';

/**
 * Faults under which no scan may be lost or duplicated. Each fault lasts until `duringFault` settles and is undone even if
 * `duringFault` throws.
 */
type DuringFault = () => Promise<unknown>;

/** `kill -9` of Postgres. */
export async function withoutPostgres({ postgres }: World, duringFault: DuringFault): Promise<void> {
  await postgres.kill();
  await duringFault().finally(postgres.restart);
}

/** Postgres is stopped with SIGSTOP: connections stay open, nothing is answered. */
export async function withPostgresFrozen({ postgres }: World, duringFault: DuringFault): Promise<void> {
  postgres.pause();
  await duringFault().finally(postgres.resume);
}

/** `kill -9` of the Postgres primary; its synchronous replica is promoted at the same address. */
export async function withFailover({ postgres }: World, duringFault: DuringFault): Promise<void> {
  await postgres.addReplica('synchronous');
  await postgres.failOver(duringFault);
}

/** `kill -9` of NATS. */
export async function withoutNats({ nats }: World, duringFault: DuringFault): Promise<void> {
  await nats.kill();
  await duringFault().finally(nats.restart);
}

/** `kill -9` of NATS, and its storage is deleted. */
export async function withoutStreamStorage(world: World, duringFault: DuringFault): Promise<void> {
  await withoutNats(world, async () => {
    deleteStorage(world.natsFolder);
    await duringFault();
  });
}

/** `kill -9` of the stream's leader; without a NATS cluster, nothing happens. */
export async function withoutNatsLeader({ natsCluster }: World, duringFault: DuringFault): Promise<void> {
  if (natsCluster === undefined) return;
  const leader = await natsCluster.leaderOf(defaultStream);
  await leader.kill();
  await duringFault().finally(leader.restart);
}

/** `kill -9` of ClickHouse. */
export async function withoutClickHouse({ clickhouse }: World, duringFault: DuringFault): Promise<void> {
  await clickhouse?.part.kill();
  await duringFault().finally(clickhouse?.part.restart);
}

/** `kill -9` of ClickHouse, and its storage is deleted. */
export async function withoutWarehouseStorage(world: World, duringFault: DuringFault): Promise<void> {
  await withoutClickHouse(world, async () => {
    if (world.clickhouse !== undefined) deleteStorage(world.clickhouse.folder);
    await duringFault();
  });
}

/** ClickHouse is stopped with SIGSTOP: connections stay open, nothing is answered. */
export async function withClickHouseFrozen({ clickhouse }: World, duringFault: DuringFault): Promise<void> {
  clickhouse?.part.pause();
  await duringFault().finally(clickhouse?.part.resume);
}

/** Half of the statements get the responses of a failing ClickHouse cluster. */
export async function withClickHouseErrors({ clickhouse }: World, duringFault: DuringFault): Promise<void> {
  if (clickhouse === undefined) throw new Error('this world has no warehouse');
  clickhouse.httpProxy.rate = 0.5;
  await duringFault().finally(() => {
    clickhouse.httpProxy.rate = 0;
  });
}

/** `kill -9` of a service, which is restarted afterwards. */
export async function withoutService(service: ServiceProcess, duringFault: DuringFault): Promise<void> {
  await service.kill();
  await duringFault().finally(() => service.start());
}

/** A service is stopped with SIGSTOP, as on a machine that swaps or migrates. */
export async function withServiceFrozen(service: ServiceProcess, duringFault: DuringFault): Promise<void> {
  service.pause();
  await duringFault().finally(service.resume);
}

/** `kill -9` and restart of a service while Postgres is down: it has only its snapshot and spool on disk. */
export async function withServiceRestartedWithoutPostgres(
  world: World,
  service: ServiceProcess,
  duringFault: DuringFault,
): Promise<void> {
  await withoutPostgres(world, async () => {
    await service.kill();
    await service.start(false);
    await duringFault();
  });
}

/** The webhook's receiver misbehaves as `mode` says. */
export async function withReceiverMode(
  { receiver }: Pick<World, 'receiver'>,
  mode: ReceiverMode,
  duringFault: DuringFault,
): Promise<void> {
  if (receiver === undefined) throw new Error('this world has no webhook');
  receiver.mode = mode;
  await duringFault().finally(() => {
    receiver.mode = 'ok';
  });
}
