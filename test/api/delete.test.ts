import { describe, expect, test } from 'vitest';
import { verify } from '../../src/maintenance/verify.ts';
import { created } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { atOnce, countStatuses } from '../support/http.ts';
import { useService } from '../support/service.ts';

const service = useService();

describe('DELETE /v1/qrcodes/:id', () => {
  test('returns the id, and every later request gets 404', async () => {
    const { live } = await service.account();
    const { id } = await created(live);
    const path = `/v1/qrcodes/${id}`;

    const response = await live.delete(path);
    expect(response.status).toBe(200);
    expect(response.body).toEqual({ deleted: true, id });

    expect((await live.get(path)).status).toBe(404);
    expect((await live.get(`${path}/history`)).status).toBe(404);
    expect((await live.patch(path, { active: true })).status).toBe(404);
    expect((await live.delete(path)).status, 'once').toBe(404);
    expect((await live.get('/v1/qrcodes')).body.data).toEqual([]);
  });

  test('of 10 concurrent deletes, one succeeds and nine get 404', async () => {
    const { live } = await service.account();
    const { id } = await created(live);
    const responses = await atOnce(10, () => live.delete(`/v1/qrcodes/${id}`));
    expect(countStatuses(responses)).toEqual({ 200: 1, 404: 9 });
    expect((await live.get('/v1/account')).body.usage.qr_codes, 'counted off once').toBe(0);
  });

  test('returns 404 for an unknown code', async () => {
    const { live } = await service.account();
    expect((await live.delete('/v1/qrcodes/qr_0000000000000000000000')).status).toBe(404);
    expect((await live.delete('/v1/qrcodes/nonsense')).status).toBe(404);
  });

  test('deletes the visitors of the code, and verify reports a code whose visitors remain', async () => {
    const { sql } = service.database;
    const { live } = await service.account();
    const { id, short_code } = await created(live);
    for (const address of ['203.0.113.1', '203.0.113.2'])
      await service.client(0).get(`/${short_code}`, { 'x-forwarded-for': address });
    await service.allStored();
    const visitors = () => sql`SELECT FROM visitors WHERE code_hash = hashtextextended(${id}, 0)`;
    expect(await visitors()).toHaveLength(2);
    await live.delete(`/v1/qrcodes/${id}`);
    await eventually(async () => expect(await visitors()).toHaveLength(0));

    await eventually(async () => expect(await sql`SELECT FROM visitor_removals`).toHaveLength(0));
    await sql`INSERT INTO visitors VALUES (hashtextextended(${id}, 0), gen_random_uuid())`;
    const { differences } = await verify({ sql, warehouse: service.warehouse });
    expect(differences).toEqual([{ what: 'visitors', code: id, log: 'deleted', found: 'has visitors' }]);
    await sql`DELETE FROM visitors WHERE code_hash = hashtextextended(${id}, 0)`;
  });
});
