import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { startProxy, type TcpProxy } from '../../../bench/chaos/proxy.ts';
import { eventually } from '../../support/eventually.ts';

/** What one side of a connection has seen. */
interface Seen {
  socket: Socket;
  text: string;
  fin: boolean;
  error: string | undefined;
  closed: boolean;
}

function watch(socket: Socket): Seen {
  const seen: Seen = { socket, text: '', fin: false, error: undefined, closed: false };
  socket.on('data', (chunk) => {
    seen.text += chunk;
  });
  socket.on('end', () => {
    seen.fin = true;
  });
  socket.on('error', ({ code }: NodeJS.ErrnoException) => {
    seen.error = code;
  });
  socket.on('close', () => {
    seen.closed = true;
  });
  return seen;
}

const listen = async (accepted: Seen[]): Promise<Server> => {
  const server = createServer({ allowHalfOpen: true }, (socket) => accepted.push(watch(socket)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
};
const urlOf = (server: Server) => `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`;

const accepted: Seen[] = [];
const acceptedByOther: Seen[] = [];
let servers: Server[] = [];
let proxy: TcpProxy;
beforeAll(async () => {
  servers = [await listen(accepted), await listen(acceptedByOther)];
});
beforeEach(async () => {
  proxy = await startProxy(urlOf(servers[0] as Server));
});
afterEach(async () => {
  await proxy.close();
  for (const { socket } of [...accepted.splice(0), ...acceptedByOther.splice(0)]) socket.destroy();
});
afterAll(async () => {
  for (const server of servers) server.close();
});

async function open(): Promise<{ client: Seen; server: Seen }> {
  const before = accepted.length;
  const client = watch(connect({ port: Number(new URL(proxy.url).port), host: '127.0.0.1', allowHalfOpen: true }));
  client.socket.write('hello');
  await eventually(() => expect(accepted.at(before)?.text).toBe('hello'));
  return { client, server: accepted[before] as Seen };
}

test('forwards data in both directions, and FIN', async () => {
  const { client, server } = await open();
  server.socket.write('welcome');
  await eventually(() => expect(client.text).toBe('welcome'));
  client.socket.end();
  await eventually(() => expect(server.fin).toBe(true));
  server.socket.end('bye');
  await eventually(() => expect(client).toMatchObject({ text: 'welcomebye', fin: true, closed: true }));
  await eventually(() => expect(proxy.connections()).toBe(0));
});

test('resets one connection or all: both sides see ECONNRESET', async () => {
  const pairs = [await open(), await open(), await open()];
  const failed = () => pairs.filter(({ client, server }) => client.error && server.error);
  proxy.reset('one');
  await eventually(() => expect(failed()).toHaveLength(1));
  expect(proxy.connections()).toBe(2);
  proxy.reset('all');
  await eventually(() => expect(failed()).toHaveLength(3));
  for (const { client, server } of pairs) expect([client.error, server.error]).toEqual(['ECONNRESET', 'ECONNRESET']);
});

test('resets in the middle of a message', async () => {
  const { client, server } = await open();
  proxy.resetInMessage('one');
  server.socket.write('0123456789');
  await eventually(() => expect(client.error).toBe('ECONNRESET'));
  expect('0123456789'.startsWith(client.text)).toBe(true);
  expect(client.text.length).toBeGreaterThan(0);
  expect(client.text.length).toBeLessThan(10);
});

test('half-closes: one side sees FIN, the other does not', async () => {
  const { client, server } = await open();
  proxy.halfClose('one', 'server');
  await eventually(() => expect(server.fin).toBe(true));
  server.socket.end();
  const other = await open();
  expect(client, 'still open').toMatchObject({ fin: false, closed: false, error: undefined });
  await proxy.restore();
  await eventually(() => expect(client.error).toBe('ECONNRESET'));
  expect(other.client.closed, 'other connections are unaffected').toBe(false);
});

test('stalls open connections while new ones work; held data arrives after restore, in order', async () => {
  const { client, server } = await open();
  proxy.stallConnections('all');
  server.socket.write('one ');
  server.socket.end('two');
  client.socket.write(' again');
  await open();
  expect([client.text, client.fin, server.text]).toEqual(['', false, 'hello']);
  await proxy.restore();
  await eventually(() => expect([client.text, client.fin, server.text]).toEqual(['one two', true, 'hello again']));
});

test('switches to another server at the same address', async () => {
  const { client } = await open();
  proxy.switchTo(urlOf(servers[1] as Server));
  await eventually(() => expect(client.error).toBe('ECONNRESET'));
  const next = watch(connect(Number(new URL(proxy.url).port), '127.0.0.1'));
  next.socket.write('hello');
  await eventually(() => expect(acceptedByOther.map(({ text }) => text)).toEqual(['hello']));
});
