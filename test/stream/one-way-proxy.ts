import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy that can drop what the server sends, while the server still receives everything. */
export async function startOneWayProxy(url: string) {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let dropping = false;
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    client.on('data', (chunk) => upstream.write(chunk));
    upstream.on('data', (chunk) => dropping || client.write(chunk));
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const through = new URL(url);
  through.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const endAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: through.href,
    dropResponses() {
      dropping = true;
    },
    /** Closes existing connections, because they have lost bytes. */
    restore() {
      dropping = false;
      endAll();
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      endAll();
      await closed;
    },
  };
}
