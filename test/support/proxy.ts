import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A way to a server that can be cut, and can fall silent. */
export interface WayTo {
  /** `url` with the proxy in place of the server. */
  url: string;
  /** Ends every connection and takes no more, like a server that has stopped. */
  cut(): Promise<void>;
  /** Keeps connections open and passes nothing on, like a server that hangs or a network that swallows packets. */
  stall(): void;
  /** Lets everything through again. */
  restore(): Promise<void>;
  close(): Promise<void>;
}

export async function startProxy(url: string): Promise<WayTo> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let stalled = false;

  function pass(from: Socket, to: Socket): void {
    sockets.add(from);
    from.on('data', (chunk) => !stalled && to.write(chunk));
    from.on('error', () => {});
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
  }
  const listen = (port: number): Promise<Server> =>
    new Promise((resolve, reject) => {
      const listening = createServer((client) => {
        const upstream = connect(Number(target.port), target.hostname);
        pass(client, upstream);
        pass(upstream, client);
      });
      listening.once('error', reject);
      listening.listen(port, '127.0.0.1', () => resolve(listening));
    });

  let server: Server | undefined = await listen(0);
  const { port } = server.address() as AddressInfo;
  const cut = async () => {
    const closing = server;
    server = undefined;
    const closed = new Promise((resolve) => (closing === undefined ? resolve(null) : closing.close(resolve)));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  const through = new URL(url);
  through.host = `127.0.0.1:${port}`;
  return {
    url: through.href,
    cut,
    stall() {
      stalled = true;
    },
    async restore() {
      // What was swallowed is lost for good, so connections from before cannot go on.
      if (stalled) for (const socket of sockets) socket.destroy();
      stalled = false;
      server ??= await listen(port);
    },
    close: cut,
  };
}
