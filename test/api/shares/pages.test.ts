import { expect, test } from 'vitest';
import type { OpenedShare } from '../../../src/accounts/shares.ts';
import type { SharedFigures } from '../../../src/api/shares/figures.ts';
import { SharePages } from '../../../src/api/shares/pages.ts';

const share: OpenedShare = {
  id: 'shr_1',
  account: 'acct_1',
  mode: 'live',
  name: 'Summer',
  codes: [],
  tags: null,
  has_password: false,
  expires_at: null,
  bots: 'exclude',
  frame_origins: [],
  created_at: new Date(0),
  password_hash: null,
  timezone: null,
  is_suspended: false,
};

test('any number of visitors cost one read of a share and period in a minute', async () => {
  let now = 0;
  let reads = 0;
  let renders = 0;
  const gate = Promise.withResolvers<void>();
  const pages = new SharePages(
    () => new Date(now),
    async () => {
      reads++;
      await gate.promise;
      return { scans: reads } as SharedFigures;
    },
  );
  const get = async (of = share, kind = 'en') => {
    const page = await pages.get(of, '7d', kind, ({ scans }) => {
      renders++;
      return String(scans);
    });
    return new TextDecoder().decode(page);
  };
  const waiting = Array.from({ length: 50 }, () => get());
  gate.resolve();
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['1']));
  now = 59_999;
  expect([await get(), await get(share, 'de')]).toEqual(['1', '1']);
  expect({ reads, renders }).toEqual({ reads: 1, renders: 2 });
  now = 60_000;
  expect(await get()).toBe('2');
  expect(await get({ ...share, bots: 'include' }), 'a change is seen at once').toBe('3');
});

test('a read that fails is tried again by the next visitor', async () => {
  let reads = 0;
  const pages = new SharePages(
    () => new Date(0),
    async () => {
      if (++reads === 1) throw new Error('ClickHouse is away');
      return {} as SharedFigures;
    },
  );
  const get = () => pages.get(share, '7d', 'en', () => 'page');
  await expect(get()).rejects.toThrow('away');
  expect(new TextDecoder().decode(await get())).toBe('page');
});
