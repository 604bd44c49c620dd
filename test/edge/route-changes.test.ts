import { beforeAll, describe, expect, test } from 'vitest';
import { newShortCode } from '../../src/lib/ids.ts';
import { type Api, created } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { atOnce } from '../support/http.ts';
import { type TestAccount, useService } from '../support/service.ts';

const service = useService({ instances: 2 });
let account: TestAccount;
beforeAll(async () => {
  account = await service.account();
});

interface Created {
  id: string;
  short_code: string;
}

async function given(fields: Record<string, unknown> = {}): Promise<Created> {
  return await created(account.live, fields);
}

/** The location that a short link redirects to, or the status. */
async function opened(instance: number, { short_code }: Pick<Created, 'short_code'>): Promise<string> {
  const { status, headers } = await service.client(instance).get(`/${short_code}`);
  return status === 302 ? (headers.get('location') ?? '') : String(status);
}

const on = (instance: number): Api => service.client(instance, account.keys.live);

describe('the instance that made a change', () => {
  test('never serves the old state after its response', async () => {
    const code = await given();
    let stopped = false;
    // Concurrent requests, so that the route is read and changed at the same time.
    const requests = atOnce(4, async () => {
      while (!stopped) await opened(0, code);
    });
    for (let round = 1; round <= 15; round++) {
      const destination_url = `https://example.com/${round}`;
      await on(0).patch(`/v1/qrcodes/${code.id}`, { destination_url, active: true });
      expect(new Set(await atOnce(5, () => opened(0, code)))).toEqual(new Set([destination_url]));
      await on(0).patch(`/v1/qrcodes/${code.id}`, { active: false });
      expect(new Set(await atOnce(5, () => opened(0, code)))).toEqual(new Set(['404']));
    }
    await on(0).delete(`/v1/qrcodes/${code.id}`);
    expect(new Set(await atOnce(20, () => opened(0, code)))).toEqual(new Set(['410']));
    stopped = true;
    await requests;
  });

  test('does so even if both instances change the same code at once', async () => {
    for (let round = 0; round < 5; round++) {
      const code = await given();
      await Promise.all([opened(0, code), opened(1, code)]);
      const destination_url = `https://example.com/both/${round}`;
      const responses = await Promise.all([
        on(0).patch(`/v1/qrcodes/${code.id}`, { name: `Name ${round}` }),
        on(1).patch(`/v1/qrcodes/${code.id}`, { destination_url }),
        on(0).patch(`/v1/qrcodes/${code.id}`, { name: `Other ${round}` }),
      ]);
      if (responses[1]?.status !== 200) continue; // lost the race twice, which is reported as a conflict
      expect(await opened(1, code)).toBe(destination_url);
      await eventually(async () => expect(await opened(0, code)).toBe(destination_url));
    }
  });

  test('serves the new state of a code that it has not served before', async () => {
    const code = await given();
    await on(0).patch(`/v1/qrcodes/${code.id}`, { destination_url: 'https://example.com/first' });
    expect(await opened(0, code)).toBe('https://example.com/first');
  });
});

describe('another instance', () => {
  test('follows every change', async () => {
    const code = await given();
    await opened(1, code);
    for (let round = 0; round < 20; round++) {
      const destination_url = `https://example.com/follow/${round}`;
      expect((await on(0).patch(`/v1/qrcodes/${code.id}`, { destination_url })).status).toBe(200);
      await eventually(async () => expect(await opened(1, code)).toBe(destination_url));
    }
  });

  test('follows a pause and a delete', async () => {
    const code = await given();
    await opened(1, code);
    await on(0).patch(`/v1/qrcodes/${code.id}`, { active: false });
    await eventually(async () => expect(await opened(1, code)).toBe('404'));
    await on(0).delete(`/v1/qrcodes/${code.id}`);
    await eventually(async () => expect(await opened(1, code)).toBe('410'));
  });
});

describe('an unknown code', () => {
  test('redirects after its creation: at once on that instance, later on the other', async () => {
    for (let round = 0; round < 5; round++) {
      const short_code = newShortCode();
      expect(await atOnce(6, (i) => opened(i % 2, { short_code }))).toEqual(Array(6).fill('404'));
      await given({ short_code });
      expect(await opened(0, { short_code })).toBe('https://example.com/menu');
      await eventually(async () => expect(await opened(1, { short_code })).toBe('https://example.com/menu'));
    }
  });

  test('that is created during requests for it redirects after the response', async () => {
    const short_code = newShortCode();
    let stopped = false;
    const requests = atOnce(4, async () => {
      while (!stopped) await opened(0, { short_code });
    });
    await given({ short_code });
    expect(new Set(await atOnce(10, () => opened(0, { short_code })))).toEqual(new Set(['https://example.com/menu']));
    stopped = true;
    await requests;
  });
});
