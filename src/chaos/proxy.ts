import { type AddressInfo, createServer, type Server } from 'node:net';
import { type ProxiedConnection, proxyConnection, type Side } from './proxied-connection.ts';

/** One connection, chosen at random, or every connection that is open. */
export type Which = 'one' | 'all';

/** A TCP proxy in front of a server, which breaks connections while the server stays up. */
export interface TcpProxy {
  /** `url` with the proxy in place of the server. */
  url: string;
  connections(): number;
  reset(which: Which): void;
  /** Resets within the next message that passes. */
  resetInMessage(which: Which): void;
  halfClose(which: Which, side: Side): void;
  /** Stalls open connections; new ones work. */
  stallConnections(which: Which): void;
  /** Stalls open and new connections, like a server that hangs or a network that drops packets. */
  stall(): void;
  /** Ends every connection and accepts no more, like a server that has stopped. */
  cut(): Promise<void>;
  /** Ends what `stall`, `stallConnections`, `halfClose` and `cut` began: stalled data arrives, half-closed ones are reset. */
  restore(): Promise<void>;
  /** Sends new connections to another server, and resets those to the server before. */
  switchTo(url: string): void;
  close(): Promise<void>;
}

export async function startProxy(url: string): Promise<TcpProxy> {
  let target = targetOf(url);
  let isStalled = false;
  const connections = new Set<ProxiedConnection>();

  const listen = (port: number): Promise<Server> =>
    new Promise((resolve, reject) => {
      const listening = createServer({ allowHalfOpen: true }, (client) => {
        const onEnd = (ended: ProxiedConnection) => connections.delete(ended);
        connections.add(proxyConnection(client, target, { stalled: isStalled, onEnd }));
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
