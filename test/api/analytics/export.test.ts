import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startProxy, type TcpProxy } from '../../../bench/chaos/proxy.ts';
import { resume, suspend } from '../../../src/accounts/accounts.ts';
import { tableName } from '../../../src/analytics/tables.ts';
import { streamOf } from '../../../src/api/http/responses.ts';
import { created } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { captureLog } from '../../support/log-lines.ts';
import type { TestAccount } from '../../support/service.ts';
import { retrying, useFilledWarehouse } from '../../support/warehouse.ts';
import { cellsOf } from './csv.ts';

let proxy: TcpProxy;
const log = captureLog();
const { service } = useFilledWarehouse({
  log: log.log,
  reachWarehouse: async (url) => {
    proxy = await startProxy(url);
    return proxy.url;
  },
});
afterEach(() => proxy.restore());
afterAll(() => proxy.close());

/** More than the socket buffers and one chunk hold together. */
const many = 70_000;
let account: TestAccount;

let code: string;

beforeAll(async () => {
  account = await service.account();
  code = await codeWithManyScans();
});

/** A code with many scans, several in each millisecond. */
async function codeWithManyScans(): Promise<string> {
  const { id } = await created(account.live);
  const { warehouse, database } = service;
  await warehouse.client.command({
    query: `INSERT INTO ${tableName(warehouse, 1)}
      SELECT {account:String}, 'live', {code:String}, toDateTime64('2026-03-01 00:00:00', 3, 'UTC') + intDiv(number, 7) / 1000,
        number + 1, concat('scan_', leftPad(toString(number), 20, '0')), 'DE', 'Land Berlin', 'Berlin', 'ios', 'safari',
        false, generateUUIDv4(), false, 1, '', ''
      FROM numbers({many:UInt32})`,
    query_params: { account: account.id, code: id, many },
  });
  await database.sql`UPDATE warehouse_tables SET position = ${many} WHERE in_use`;
  return id;
}

const exportOf = (id: string, format = 'csv') =>
  `/v1/qrcodes/${id}/analytics/export?format=${format}&start_date=2026-03-01&end_date=2026-03-31`;

const idsInOrder = Array.from({ length: many }, (_, i) => `scan_${String(i).padStart(20, '0')}`);

const accepted = 'HTTP/1.1 200';

/** A response that is read as far as the test wants. */
interface Download {
  /** Reads the rest, until the service closes the connection. */
  rest(): Promise<string>;
  leave(): void;
}

/**
 * Starts an export, and stops reading after the first bytes. Repeats it if it is refused: with 503 on a busy machine, and with 403
 * until the service knows that an account is no longer suspended.
 */
const startReading = (id: string): Promise<Download> =>
  eventually(async () => {
    const socket = connect(Number(new URL(service.urls[0] as string).port), '127.0.0.1');
    // Awaited from here on: an export that fails resets the connection, perhaps before the test reads on.
    const closed = new Promise((resolve) => socket.on('error', () => {}).once('close', resolve));
    const head = [`GET ${exportOf(id)} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${account.keys.live}`];
    socket.write(`${[...head, 'Connection: close'].join('\r\n')}\r\n\r\n`);
    await Promise.race([once(socket, 'readable'), closed]);
    const status: Buffer | null = socket.read(accepted.length);
    if (status?.toString() !== accepted) {
      socket.destroy();
      throw new Error(`the export was answered with ${status}`);
    }
    socket.unshift(status);
    return {
      async rest() {
        const chunks: Buffer[] = [];
        socket.on('data', (chunk: Buffer) => chunks.push(chunk));
        await closed;
        return Buffer.concat(chunks).toString();
      },
      leave: () => socket.destroy(),
    };
  });

/** Decodes a chunked body: a line with the length in hex precedes each chunk. All text is ASCII, so characters are bytes. */
function bodyOf(response: string): string {
  let body = '';
  for (let at = response.indexOf('\r\n\r\n') + 4; at < response.length; ) {
    const from = response.indexOf('\r\n', at) + 2;
    const to = from + Number.parseInt(response.slice(at, from), 16);
    body += response.slice(from, to);
    at = to + 2;
  }
  return body;
}

const end = '\r\n0\r\n\r\n';

function expectComplete(response: string): void {
  expect(response.slice(-end.length), `the service logged ${log.warnings()}`).toBe(end);
}

function expectCutShort(response: string): void {
  expect(response.slice(-end.length)).not.toBe(end);
}

describe('an export', () => {
  test('contains each of 70,000 scans once, oldest first', async () => {
    const id = code;
    const live = retrying(account.live);
    const csv = await live.get(exportOf(id));
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(csv.headers.get('content-disposition')).toBe(`attachment; filename="${id}-scans.csv"`);
    expect(csv.text.startsWith('id,timestamp,country,region,city,device,browser,is_unique\r\nscan_')).toBe(true);
    expect(
      cellsOf(csv.text)
        .slice(1)
        .map(([scan]) => scan),
    ).toEqual(idsInOrder);
    const json = await live.get(exportOf(id, 'json'));
    expect(json.headers.get('content-disposition')).toBe(`attachment; filename="${id}-scans.json"`);
    expect(json.body.data.map((scan: { id: string }) => scan.id)).toEqual(idsInOrder);
    const head = await account.live.head(exportOf(id));
    expect(head.headers.get('content-disposition')).toBe(`attachment; filename="${id}-scans.csv"`);
  });

  test('without scans is a complete, empty file', async () => {
    const { id } = await created(account.live);
    const live = retrying(account.live);
    expect((await live.get(exportOf(id))).text).toBe('id,timestamp,country,region,city,device,browser,is_unique\r\n');
    expect((await live.get(exportOf(id, 'json'))).body).toEqual({
      qr_id: id,
      period: { start: '2026-03-01T00:00:00.000Z', end: '2026-03-31T23:59:59.999Z' },
      data: [],
    });
  });

  test('does not block other reads while clients read slowly, and is complete in the end', async () => {
    const slow = await Promise.all(Array.from({ length: 5 }, () => startReading(code)));
    expect((await retrying(account.live).get(`/v1/qrcodes/${code}/analytics/timeseries`)).status).toBe(200);
    const [first, ...others] = slow as [Download, ...Download[]];
    for (const download of others) download.leave();
    const response = await first.rest();
    expectComplete(response);
    expect(bodyOf(response).match(/scan_\d{20}/g)).toHaveLength(many);
  });

  test('beyond the eight that an account can have at once is refused, until one of them has ended', async () => {
    const open = await Promise.all(Array.from({ length: 8 }, () => startReading(code)));
    const refused = await account.live.get(exportOf(code));
    expect(refused).toMatchObject({ status: 503, body: { error: { code: 'unavailable' } } });
    expect(refused.body.error.message).toContain('8 exports at once');
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    const [first, ...others] = open as [Download, ...Download[]];
    first.leave();
    others.push(await startReading(code));
    for (const download of others) download.leave();
  });

  test('closes the connection early when ClickHouse becomes unavailable', async () => {
    const download = await startReading(code);
    await proxy.cut();
    expectCutShort(await download.rest());
    expect(log.text()).toContain('response failed part-way');
  });

  test('closes the connection early when its code is deleted, since scans may be missing', async () => {
    const id = await codeWithManyScans();
    const download = await startReading(id);
    expect((await account.live.delete(`/v1/qrcodes/${id}`)).status).toBe(200);
    expectCutShort(await download.rest());
  });

  test('closes the connection early when the account is suspended', async () => {
    const download = await startReading(code);
    await suspend(service.database.sql, account.id, 'Unpaid.', new Date());
    expectCutShort(await download.rest());
    await resume(service.database.sql, account.id, new Date());
    expectComplete(await (await startReading(code)).rest());
  });
});

test('a streamed response produces no piece ahead of the reader, and ends when the client disconnects', async () => {
  let produced = 0;
  let ended = false;
  async function* pieces() {
    try {
      for (;;) yield Buffer.from(`piece ${++produced}`);
    } finally {
      ended = true;
    }
  }
  const reader = streamOf(pieces(), log.log).getReader();
  await reader.read();
  await reader.read();
  expect(produced).toBe(2);
  await reader.cancel();
  expect(ended).toBe(true);
});
