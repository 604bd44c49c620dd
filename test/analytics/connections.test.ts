import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectWarehouse, type Warehouse } from '../../src/analytics/connect.ts';

type Request = [IncomingMessage, ServerResponse];

const server = createServer((message) => void message.resume());
let warehouse: Warehouse;

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const clickhouseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  warehouse = connectWarehouse({ clickhouseUrl, clickhouseDatabase: 'test', clickhouseCluster: undefined });
});
afterAll(async () => {
  await warehouse.client.close();
  server.closeAllConnections();
  server.close();
});

/** Starts a query; resolves when the server has the request. */
async function query() {
  const arrived = once(server, 'request') as Promise<Request>;
  const text = warehouse.client.query({ query: 'SELECT 1', format: 'JSONEachRow' }).then((result) => result.text());
  const [{ socket }, response] = await arrived;
  const closed = new Promise((resolve) => socket.once('close', resolve));
  return { response, text, closed };
}

/** Resolves to a promise of the end of its connection, which is idle from now on. */
async function answered(): Promise<{ closed: Promise<unknown> }> {
  const { response, text, closed } = await query();
  response.end('1');
  expect(await text).toBe('1');
  return { closed };
}

test('a connection in use stays open, also after a request that was aborted before it had it', async () => {
  await answered();
  const abort = new AbortController();
  const gone = warehouse.client.query({ query: 'SELECT 1', abort_signal: abort.signal });
  abort.abort();
  await expect(gone).rejects.toThrow('aborted');

  const long = await query();
  const idle = await answered();
  // It became idle after the connection that is in use, so a timer of that one would have ended before.
  await idle.closed;
  long.response.end('2');
  expect(await long.text).toBe('2');
});
