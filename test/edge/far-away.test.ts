import { afterAll, describe, expect, test } from 'vitest';
import { startProxy, type TcpProxy } from '../../bench/chaos/proxy.ts';
import type { ServiceConfig } from '../../src/config/config.ts';
import type { TestService } from '../support/service.ts';
import { useService } from '../support/service.ts';

/** As between Frankfurt and Singapore. */
const latencyMs = 120;

function useFarService(edgeDurability: ServiceConfig['edgeDurability']): { service: TestService; proxy(): TcpProxy } {
  let proxy: TcpProxy | undefined;
  // Before the service's hooks, which run in reverse order at the end: it is verified through the proxy.
  afterAll(() => proxy?.close());
  const service = useService({
    config: { edgeDurability },
    reach: async (databaseUrl) => {
      proxy = await startProxy(databaseUrl);
      return proxy.url;
    },
  });
  return { service, proxy: () => proxy ?? expect.fail('the service has not started') };
}

async function createCode({ account }: TestService): Promise<{ id: string; short_code: string }> {
  const { live } = await account();
  const { status, body } = await live.post('/v1/qrcodes', { name: 'Far', destination_url: 'https://example.com/far' });
  expect(status).toBe(201);
  return body;
}

/** Scans a code, one scan after another, each by another visitor; all must be redirected. */
async function scan({ urls }: TestService, shortCode: string, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const headers = { 'x-forwarded-for': `10.1.${i >> 8}.${i & 255}` };
    const { status } = await fetch(`${urls[0]}/${shortCode}`, { headers, redirect: 'manual' });
    expect(status).toBe(302);
  }
}

const storedOf = async ({ database }: TestService, id: string) =>
  (await database.sql`SELECT FROM scans WHERE code = ${id}`).length;

describe('an edge with durability disk, far from Postgres', () => {
  const { service, proxy } = useFarService('disk');

  test('answers scans that Postgres has not received, and stores each once', async () => {
    const code = await createCode(service);
    await scan(service, code.short_code, 1);
    proxy().delay(latencyMs);
    await scan(service, code.short_code, 50);
    proxy().stall();
    await scan(service, code.short_code, 50);
    expect(await storedOf(service, code.id), 'answered, and not stored yet').toBeLessThanOrEqual(51);
    await proxy().restore();
    await service.allStored();
    proxy().delay(0);
    expect(await storedOf(service, code.id)).toBe(101);
  });

  test('redirects while the link is cut, and sends everything afterwards', async () => {
    const code = await createCode(service);
    await scan(service, code.short_code, 1);
    proxy().delay(latencyMs);
    await proxy().cut();
    await scan(service, code.short_code, 200);
    expect(await storedOf(service, code.id)).toBeLessThanOrEqual(1);
    await proxy().restore();
    await service.allStored();
    proxy().delay(0);
    expect(await storedOf(service, code.id)).toBe(201);
  });
});

describe('an edge with durability log, far from Postgres', () => {
  const { service, proxy } = useFarService('log');

  test('answers a scan after its commit, and from its disk while the link is cut', async () => {
    const code = await createCode(service);
    proxy().delay(latencyMs);
    await scan(service, code.short_code, 1);
    for (let stored = 2; stored <= 5; stored++) {
      await scan(service, code.short_code, 1);
      expect(await storedOf(service, code.id)).toBe(stored);
    }
    await proxy().cut();
    await scan(service, code.short_code, 20);
    await proxy().restore();
    await service.allStored();
    proxy().delay(0);
    expect(await storedOf(service, code.id)).toBe(25);
  });
});
