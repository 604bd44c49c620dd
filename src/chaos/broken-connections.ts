import { setTimeout as sleep } from 'node:timers/promises';
import type { Side } from './proxied-connection.ts';
import type { Which } from './proxy.ts';
import type { ProxyGroup } from './proxy-group.ts';
import type { Proxies, World } from './world.ts';

/**
 * Broken connections to servers that stay up. Each fault lasts as long as `meanwhile`, and ends what it began, also when
 * that throws.
 */
type Meanwhile = () => Promise<unknown>;

export type ServerName = keyof Proxies;

/** One reset at a time follows the next quickly; all at once, connections are open again and at work before the next. */
const maxPauseMs = { one: 60, all: 600 };

const isHeads = () => Math.random() < 0.5;

/** Resets connections again and again, half of them in the middle of a message. */
export async function withResets(
  { proxies }: Pick<World, 'proxies'>,
  servers: ServerName[],
  which: Which,
  meanwhile: Meanwhile,
): Promise<void> {
  let isOver = false;
  const resetting = (async () => {
    while (!isOver) {
      for (const server of servers) resetSomehow(proxies[server], which);
      await sleep(Math.random() * maxPauseMs[which]);
    }
  })();
  await meanwhile().finally(async () => {
    isOver = true;
    await resetting;
  });
}

const resetSomehow = (proxy: ProxyGroup, which: Which) =>
  isHeads() ? proxy.reset(which) : proxy.resetInMessage(which);

/** One side of connections gets a FIN, and the other never learns of it. */
export async function withHalfClosed(
  { proxies }: Pick<World, 'proxies'>,
  servers: ServerName[],
  which: Which,
  meanwhile: Meanwhile,
): Promise<void> {
  const side: Side = isHeads() ? 'client' : 'server';
  for (const server of servers) proxies[server].halfClose(which, side);
  await meanwhile().finally(() => restoreAll(proxies, servers));
}

/** Connections on which nothing arrives; then what was sent meanwhile does, or they are reset. */
export async function withStalledConnections(
  { proxies }: Pick<World, 'proxies'>,
  servers: ServerName[],
  which: Which,
  meanwhile: Meanwhile,
): Promise<void> {
  for (const server of servers) proxies[server].stallConnections(which);
  await meanwhile().finally(() => {
    if (isHeads()) for (const server of servers) proxies[server].reset('all');
    return restoreAll(proxies, servers);
  });
}

const restoreAll = (proxies: Proxies, servers: ServerName[]) =>
  Promise.all(servers.map((server) => proxies[server].restore()));
