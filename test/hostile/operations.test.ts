import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { created } from '../support/api.ts';
import { type DocumentedOperation, operationsOf } from '../support/documented.ts';
import { captureLog } from '../support/log-lines.ts';
import { endWindows } from '../support/rate-windows.ts';
import { type TestAccount, useService } from '../support/service.ts';
import { retrying } from '../support/warehouse.ts';
import { mayCallTests } from '../webhooks/webhook-support.ts';
import { type AnyRequest, requestsTo } from './anything.ts';

const captured = captureLog();
const service = useService({ config: mayCallTests, log: captured.log });

const isAnalytics = (path: string) => path.includes('analytics');
/** Every run of the tests sends other requests; fewer of analytics, which take most of the CPU. */
const runs = (path: string) => (isAnalytics(path) ? 4 : 24);

let operations: DocumentedOperation[];
let owner: TestAccount;

beforeAll(async () => {
  operations = await operationsOf(service.urls[0] as string);
  owner = await service.account();
  // Waits until analytics are available.
  await retrying(owner.live).get('/v1/analytics/aggregate');
});

describe('every operation', () => {
  test('answers random requests as documented, and never with 5xx', async () => {
    expect(operations.length).toBeGreaterThanOrEqual(24);
    const codes = await Promise.all(Array.from({ length: 40 }, async () => (await created(owner.live)).id as string));
    const inTurn = async (group: typeof operations) => {
      for (const operation of group) await sendRandomRequests(operation, codes);
    };
    await Promise.all([
      inTurn(operations.filter(([, path]) => isAnalytics(path))),
      inTurn(operations.filter(([method, path]) => !isAnalytics(path) && method === 'GET')),
      inTurn(operations.filter(([method]) => method !== 'GET')),
    ]);
  });

  test('answers 415 to compressed bodies, without decompressing them', async () => {
    const bomb = Bun.gzipSync(new Uint8Array(64 * 1024 * 1024));
    expect(bomb.length).toBeLessThan(100_000);
    const taking = operations.filter(([, , { requestBody }]) => requestBody !== undefined);
    expect(taking.length).toBeGreaterThanOrEqual(5);
    for (const [method, path] of taking)
      for (const encoding of ['gzip', 'deflate', 'br', 'zstd', 'gzip, gzip', 'identity']) {
        const headers = { 'content-type': 'application/json', 'content-encoding': encoding };
        const { status } = await owner.test.send(path.replace(/\{\w+\}/, 'qr_1'), { method, body: bomb, headers });
        expect(status, `${method} ${path} in ${encoding}`).toBe(415);
      }
  });

  test('answers 400 to many unknown fields with a short message, and with one per item in bulk', async () => {
    const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, 1]));
    const one = await owner.test.post('/v1/qrcodes', fields(90_000));
    expect(one.status).toBe(400);
    expect(one.text.length).toBeLessThan(5_000);
    const many = await owner.test.post('/v1/qrcodes/bulk', {
      qrcodes: Array.from({ length: 1_000 }, () => fields(100)),
    });
    expect(many.status).toBe(400);
    expect(new Set(many.body.error.details.map(({ index }: { index: number }) => index)).size).toBe(1_000);
    expect(many.text.length).toBeLessThan(3_000_000);
  });

  afterAll(() => {
    const wrong = captured.lines().filter(({ level }) => level === 'error');
    expect(wrong.slice(0, 3), 'no errors in the log').toEqual([]);
    expect(({} as Record<string, unknown>)['polluted'], 'no prototype was polluted').toBeUndefined();
  });
});

const analyticsLog = () =>
  captured
    .lines()
    .filter(({ projection }) => projection === 'analytics')
    .map((line) => JSON.stringify(line))
    .join('\n');

async function sendRandomRequests([method, path, operation]: DocumentedOperation, ids: string[]): Promise<void> {
  const send = ({ path: filledPath, headers, body }: AnyRequest) =>
    owner.live.send(filledPath, {
      method,
      headers,
      ...(body === undefined ? {} : { body: body as string }),
    });
  await fc.assert(
    fc.asyncProperty(requestsTo(path, operation, ids), async (request) => {
      let { status, text } = await send(request);
      if (status === 429) {
        await endWindows(service.database.sql);
        ({ status, text } = await send(request));
      }
      // Not as the message of `expect`: reading the log for each of thousands of responses takes longer than they do.
      if (status >= 500) throw new Error(`${method} ${request.path} answered ${status}: ${text}\n${analyticsLog()}`);
    }),
    { numRuns: runs(path) },
  );
}
