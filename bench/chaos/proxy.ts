import { type AddressInfo, createServer, type Server } from 'node:net';
import { type ProxiedConnection, proxyConnection, type Side } from './proxied-connection.ts';

/** One open connection, chosen at random, or all of them. */
export type Which = 'one' | 'all';

/** A TCP proxy that breaks connections to a server that stays up. */
export interface TcpProxy {
  /** The server's URL with the proxy's host and port. */
  url: string;
  connections(): number;
  reset(which: Which): void;
  /** Resets in the middle of the next message. */
  resetInMessage(which: Which): void;
  halfClose(which: Which, side: Side): void;
  /** Stalls open connections; new ones work. */
  stallConnections(which: Which): void;
  /** Stalls open and new connections, like a server that hangs or a network that drops packets. */
  stall(): void;
  /** Forwards everything this much later, in both directions. */
  delay(ms: number): void;
  /** Ends every connection and refuses new ones, like a server that has stopped. */
  cut(): Promise<void>;
  /** Undoes `stall`, `stallConnections`, `halfClose` and `cut`: held data is forwarded, half-closed connections are reset. */
  restore(): Promise<void>;
  /** Routes new connections to another server and resets the existing ones. */
  switchTo(url: string): void;
  close(): Promise<void>;
}

export async function startProxy(url: string): Promise<TcpProxy> {
  let target = targetOf(url);
  let isStalled = false;
  let delayMs = 0;
  const connections = new Set<ProxiedConnection>();

  const listen = (port: number): Promise<Server> =>
    new Promise((resolve, reject) => {
      const listening = createServer({ allowHalfOpen: true }, (client) => {
        const onEnd = (ended: ProxiedConnection) => connections.delete(ended);
        connections.add(proxyConnection(client, target, { stalled: isStalled, delayMs, onEnd }));
      });
      listening.once('error', reject);
      listening.listen(port, '127.0.0.1', () => resolve(listening));
    });

  function choose(which: Which): ProxiedConnection[] {
    const open = [...connections];
    return which === 'all' ? open : open.splice(Math.floor(Math.random() * open.length), 1);
  }
  const forEach = (which: Which, action: (connection: ProxiedConnection) => void) => {
    for (const connection of choose(which)) action(connection);
  };

  let server: Server | undefined = await listen(0);
  const { port } = server.address() as AddressInfo;
  const through = new URL(url);
  through.host = `127.0.0.1:${port}`;

  const cut = async () => {
    const closing = server;
    server = undefined;
    const closed = new Promise((resolve) => (closing === undefined ? resolve(null) : closing.close(resolve)));
    forEach('all', (connection) => connection.end());
    await closed;
  };
  return {
    url: through.href,
    connections: () => connections.size,
    reset: (which) => forEach(which, (connection) => connection.reset()),
    resetInMessage: (which) => forEach(which, (connection) => connection.resetInMessage()),
    halfClose: (which, side) => forEach(which, (connection) => connection.halfClose(side)),
    stallConnections: (which) => forEach(which, (connection) => connection.stall()),
    stall() {
      isStalled = true;
      forEach('all', (connection) => connection.stall());
    },
    delay(ms) {
      delayMs = ms;
      forEach('all', (connection) => connection.delay(ms));
    },
    cut,
    async restore() {
      isStalled = false;
      forEach('all', (connection) => (connection.isHalfClosed() ? connection.reset() : connection.resume()));
      server ??= await listen(port);
    },
    switchTo(other) {
      target = targetOf(other);
      forEach('all', (connection) => connection.reset());
    },
    close: cut,
  };
}

function targetOf(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}
