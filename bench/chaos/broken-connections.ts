import { setTimeout as sleep } from 'node:timers/promises';
import type { Side } from './proxied-connection.ts';
import type { Which } from './proxy.ts';
import type { ProxyGroup } from './proxy-group.ts';
import type { Proxies, World } from './world.ts';

/**
 * Faults of connections to servers that stay up. Each fault lasts until `duringFault` settles and is undone even if
 * `duringFault` throws.
 */
type DuringFault = () => Promise<unknown>;

export type ServerName = keyof Proxies;

/** Resetting all connections pauses longer, so that new connections are in use before the next reset. */
const maxPauseMs = { one: 60, all: 600 };

const coinFlip = () => Math.random() < 0.5;

/** Resets connections repeatedly, half of them in the middle of a message. */
export async function withResets(
  { proxies }: Pick<World, 'proxies'>,
  servers: ServerName[],
  which: Which,
  duringFault: DuringFault,
): Promise<void> {
  let isOver = false;
  const resetting = (async () => {
    while (!isOver) {
      for (const server of servers) resetAtRandom(proxies[server], which);
      await sleep(Math.random() * maxPauseMs[which]);
    }
  })();
  await duringFault().finally(async () => {
    isOver = true;
    await resetting;
  });
}

const resetAtRandom = (proxy: ProxyGroup, which: Which) =>
  coinFlip() ? proxy.reset(which) : proxy.resetInMessage(which);

/** One side of each connection receives a FIN; the other side is not notified. */
export async function withHalfClosed(
  { proxies }: Pick<World, 'proxies'>,
  servers: ServerName[],
  which: Which,
  duringFault: DuringFault,
): Promise<void> {
  const side: Side = coinFlip() ? 'client' : 'server';
  for (const server of servers) proxies[server].halfClose(which, side);
  await duringFault().finally(() => restoreAll(proxies, servers));
}

/** Stalls connections, then either delivers what was sent in the meantime or resets them. */
export async function withStalledConnections(
  { proxies }: Pick<World, 'proxies'>,
  servers: ServerName[],
  which: Which,
  duringFault: DuringFault,
): Promise<void> {
  for (const server of servers) proxies[server].stallConnections(which);
  await duringFault().finally(() => {
    if (coinFlip()) for (const server of servers) proxies[server].reset('all');
    return restoreAll(proxies, servers);
  });
}

const restoreAll = (proxies: Proxies, servers: ServerName[]) =>
  Promise.all(servers.map((server) => proxies[server].restore()));
