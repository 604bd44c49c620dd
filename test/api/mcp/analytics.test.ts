import { beforeAll, expect, test } from 'vitest';
import { created } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { mcpClient } from '../../support/mcp.ts';
import { scanned } from '../../support/scans.ts';
import type { TestAccount } from '../../support/service.ts';
import { useFilledWarehouse } from '../../support/warehouse.ts';

const { service, store } = useFilledWarehouse({ clock: () => new Date('2026-03-15T10:20:30.456Z') });

let account: TestAccount;
let id: string;

beforeAll(async () => {
  account = await service.account();
  id = (await created(account.live)).id;
  const scan = (time: string, position: number) => ({
    ...scanned({ account: account.id, code: id, occurred_at: new Date(time) }),
    position,
    is_unique: true,
  });
  await store([scan('2026-03-14T09:00:00.000Z', 1), scan('2026-03-15T09:00:00.000Z', 2)]);
});

const client = () => mcpClient(service.urls[0] as string, account.keys.live);

test('tools count as the API does', async () => {
  const mcp = await client();
  const reads: [string, Record<string, unknown>, string][] = [
    ['analytics', { qr_id: id, compare: 'previous' }, `/v1/qrcodes/${id}/analytics?compare=previous`],
    ['analytics', {}, '/v1/analytics/aggregate'],
    ['compare', { qr_ids: [id] }, `/v1/analytics/qrcodes?qr_id=${id}`],
  ];
  // A busy machine may answer a read with 503.
  for (const [tool, args, path] of reads)
    await eventually(async () => {
      const { status, body } = await account.live.get(path);
      expect(status).toBe(200);
      expect(await mcp.call(tool, args)).toEqual(body);
    });
});

test('scans over time are added on request, and refused if they are too many to read', async () => {
  const mcp = await client();
  const days = { qr_id: id, interval: 'day', start_date: '2026-03-14', end_date: '2026-03-15' };
  await eventually(async () =>
    expect((await mcp.call('analytics', days)).scans_over_time).toMatchObject([
      { date: '2026-03-14', total_scans: 1 },
      { date: '2026-03-15', total_scans: 1 },
    ]),
  );
  const hours = { ...days, interval: 'hour', start_date: '2026-02-01' };
  await eventually(async () =>
    expect((await mcp.refused('analytics', hours)).message).toContain('more than 400: choose a longer interval'),
  );
});
