import { createServer, type Server, type Socket } from 'node:net';
import type { NatsConnection } from 'nats';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { connectOnce } from '../../src/stream/connect.ts';
import { eventually } from '../support/eventually.ts';

/** What `patches/` fixes in the `nats` package, tested with a server that does not answer, or closes, at exact moments. */

type Behaviour = 'answers' | 'says nothing' | 'closes after CONNECT';

const info = 'INFO {"server_id":"x","version":"2.10.0","proto":1,"max_payload":1048576,"headers":true}\r\n';

/** A NATS server as far as a connection needs it, and a subscription. Counts from 1. */
class FakeServer {
  readonly sockets: Socket[] = [];
  /** The connection that the client has subscribed on, for each subscription that it sent. */
  readonly subscribedOn: number[] = [];
  readonly #behaviours: Behaviour[];
  readonly #server: Server;

  constructor(behaviours: Behaviour[]) {
    this.#behaviours = behaviours;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const address = this.#server.address();
    return `nats://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  }

  get open(): Socket[] {
    return this.sockets.filter((socket) => !socket.closed);
  }

  socket(number: number): Socket {
    return this.sockets[number - 1] as Socket;
  }

  #accept(socket: Socket): void {
    const number = this.sockets.push(socket);
    const behaviour = this.#behaviours[number - 1] ?? 'answers';
    socket.on('error', () => {});
    if (behaviour !== 'says nothing') socket.write(info);
    let rest = '';
    socket.on('data', (data) => {
      const lines = `${rest}${data}`.split('\r\n');
      rest = lines.pop() ?? '';
      if (behaviour === 'closes after CONNECT' && lines.some((line) => line.startsWith('CONNECT'))) socket.destroy();
      if (behaviour !== 'answers') return;
      for (const line of lines)
        if (line === 'PING') socket.write('PONG\r\n');
        else if (line.startsWith('SUB')) this.subscribedOn.push(number);
    });
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.#server.close();
  }
}

let server: FakeServer;
let client: NatsConnection;
let received: string[];

/** A client with a subscription on the first connection. */
async function connected(...later: Behaviour[]): Promise<void> {
  server = new FakeServer(['answers', ...later]);
  client = await connectOnce(await server.listen(), 'test');
  client.subscribe('x', { callback: (_, message) => received.push(message.string()) });
  await eventually(() => expect(server.subscribedOn).toEqual([1]));
}

/** A message in two parts, as a long one arrives, and something in between from every other connection that is open. */
async function expectReceives(connection: number): Promise<void> {
  const [start, end] = ['a'.repeat(1_000), 'b'.repeat(1_000)];
  server.socket(connection).write(`MSG x 1 2000\r\n${start}`);
  for (const other of server.open) if (other !== server.socket(connection)) other.write('PONG\r\n');
  server.socket(connection).write(`${end}\r\n`);
  await eventually(() => expect(received).toEqual([start + end]));
}

beforeEach(() => {
  received = [];
});
afterEach(async () => {
  await client.close().catch(() => {});
  server.close();
});

test('an attempt that times out is given up, and does not end the next connection when the server answers it later', async () => {
  await connected('says nothing');
  server.socket(1).destroy();
  await eventually(() => expect(server.socket(2)?.closed, 'the second connection is closed').toBe(true));
  await eventually(() => expect(server.subscribedOn).toEqual([1, 3]));
  await expectReceives(3);
  expect(server.open).toEqual([server.socket(3)]);
});

test('a connection that closes before it is established is followed by one other', async () => {
  await connected('closes after CONNECT');
  server.socket(1).destroy();
  await eventually(() => expect(server.subscribedOn.length).toBeGreaterThan(1));
  const [number = 0] = server.subscribedOn.slice(-1);
  await expectReceives(number);
  expect(server.open).toEqual([server.socket(number)]);
});

test('a server that reads nothing does not hold up the next connection', async () => {
  await connected();
  server.socket(1).pause();
  const message = new Uint8Array(1024 * 1024);
  for (let i = 0; i < 64; i++) client.publish('y', message);
  await client.reconnect();
  await eventually(() => expect(server.subscribedOn).toEqual([1, 2]));
  await expectReceives(2);
});

test('bytes that are not of the protocol end the connection, and the next one works', async () => {
  await connected();
  server.socket(1).write('nonsense\r\n');
  await eventually(() => expect(server.subscribedOn).toEqual([1, 2]));
  await expectReceives(2);
});
