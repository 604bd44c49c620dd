import { describe, expect, test } from 'vitest';
import { newCode } from '../support/api.ts';
import { useService } from '../support/service.ts';

const service = useService({ projections: false });
const generated = /^req_[0-9A-Za-z]{20,}$/;
const idOf = (response: { headers: Headers }) => response.headers.get('x-request-id');

describe('the request id', () => {
  test.each(['abc', '7d3f1e9c-0b52-4c5e-9a3e-2f4f8a1b6c7d', 'client_1.2-3', 'x'.repeat(128)])(
    'of the client is kept: %s',
    async (id) => {
      const { live } = await service.account();
      expect(idOf(await live.get('/v1/account', { 'x-request-id': id }))).toBe(id);
    },
  );

  test.each([
    ['with spaces', 'two words'],
    ['with a line break', 'a%0d%0aSet-Cookie: x'],
    ['with markup', '<script>'],
    ['too long', 'x'.repeat(129)],
    ['empty', ''],
    ['beyond ASCII', 'caf\u00e9'],
  ])('%s is replaced by a new one', async (_, id) => {
    const { live } = await service.account();
    expect(idOf(await live.get('/v1/account', { 'x-request-id': id }))).toMatch(generated);
  });

  test('is new for each request without one', async () => {
    const { live } = await service.account();
    const ids = [idOf(await live.get('/v1/account')), idOf(await live.get('/v1/account'))];
    for (const id of ids) expect(id).toMatch(generated);
    expect(ids[0]).not.toBe(ids[1]);
  });

  test('is on every kind of response', async () => {
    const { live } = await service.account();
    const own = { 'x-request-id': 'mine' };
    const anonymous = service.client(0);
    const responses = [
      await live.post('/v1/qrcodes', newCode(), own),
      await live.post('/v1/qrcodes', {}, own),
      await live.get('/v1/none', own),
      await anonymous.get('/v1/account', own),
      await live.send('/v1/account', { method: 'PUT', headers: own }),
    ];
    expect(responses.map(({ status }) => status)).toEqual([201, 400, 404, 401, 405]);
    expect(responses.map(idOf)).toEqual(['mine', 'mine', 'mine', 'mine', 'mine']);
  });

  test.each(['/healthz', '/readyz', '/swagger', '/swagger/json', '/swagger/start.js', '/', '/no-such-code', '/a/b/c'])(
    'is on %s',
    async (path) => {
      const anonymous = service.client(0);
      expect(idOf(await anonymous.get(path))).toMatch(generated);
      expect(idOf(await anonymous.get(path, { 'x-request-id': 'mine' }))).toBe('mine');
    },
  );
});
