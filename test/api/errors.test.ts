import { describe, expect, test } from 'vitest';
import { created, newCode } from '../support/api.ts';
import { operationsOf } from '../support/documented.ts';
import { captureLog } from '../support/log-lines.ts';
import { sendRaw } from '../support/raw-http.ts';
import { useService } from '../support/service.ts';

// Errors that the tests cause on purpose are not printed.
const service = useService({ projections: false, log: captureLog().log });
const url = () => service.urls[0] as string;

describe('an unknown path', () => {
  test.each([
    '/v1',
    '/v1/',
    '/v1/none',
    '/v1/qrcode',
    '/v1/qrcodes/qr_1/none',
    '/v1/qrcodes/a/b/c',
    '/v1//qrcodes',
    '/v1/qrcodes//',
    '/v1/%71%72',
    '/v1/qrcodes%2F',
    '/v1/account/keys/key_1/more',
    '/v1/__proto__',
    '/v1/constructor',
    `/v1/${'x'.repeat(3_000)}`,
  ])('%.40s: 404 as JSON', async (path) => {
    const { live } = await service.account();
    const response = await live.get(path);
    expect(response.status).toBe(404);
    expect(response.body.error.code).toBe('not_found');
  });

  test.each(['/v1/none', '/v1/qrcodes/qr_1/none'])('%s: 404 with any method', async (path) => {
    const { live } = await service.account();
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
      expect((await live.send(path, { method })).status, method).toBe(404);
  });
});

describe('an unsupported method', () => {
  test.each([
    ['/v1/qrcodes', ['PUT', 'PATCH', 'DELETE', 'OPTIONS'], ['GET', 'HEAD', 'POST']],
    ['/v1/qrcodes/bulk', ['GET', 'PUT'], ['POST']],
    ['/v1/qrcodes/qr_0000000000000000000000', ['POST', 'PUT'], ['DELETE', 'GET', 'HEAD', 'PATCH']],
    ['/v1/qrcodes/qr_0000000000000000000000/history', ['POST', 'DELETE'], ['GET', 'HEAD']],
    ['/v1/account', ['POST', 'PUT', 'DELETE'], ['GET', 'HEAD', 'PATCH']],
    ['/v1/account/keys', ['PUT', 'DELETE'], ['GET', 'HEAD', 'POST']],
    ['/v1/account/keys/key_1', ['GET', 'PUT', 'PATCH'], ['DELETE']],
  ])('%s: 405 to %j, with Allow', async (path, methods, allowed) => {
    const { live } = await service.account();
    for (const method of methods) {
      const response = await live.send(path, { method });
      expect(response.status, method).toBe(405);
      expect(response.body.error.code).toBe('method_not_allowed');
      expect(response.headers.get('allow')?.split(', ').toSorted()).toEqual(allowed);
    }
  });

  test.each(['TRACE', 'PROPFIND', 'PURGE', 'LOCK'])('%s: 405', async (method) => {
    const { keys } = await service.account();
    const response = await sendRaw(url(), [
      `${method} /v1/qrcodes HTTP/1.1`,
      'Host: localhost',
      `Authorization: Bearer ${keys.live}`,
    ]);
    expect(response.status).toBe(405);
    expect(JSON.parse(response.text).error.code).toBe('method_not_allowed');
  });
});

describe('query parameters', () => {
  const messagesOf = ({ details }: { details: { field: string; message: string }[] }) =>
    details.map(({ field, message }) => [field, message]);

  test('an unknown one: 400 that names the nearest known one, or all of them', async () => {
    const { live } = await service.account();
    const response = await live.get('/v1/qrcodes/qr_0000000000000000000000/history?pge=2&color=red&limit=0');
    expect([response.status, response.body.error.code]).toEqual([400, 'invalid_request']);
    expect(messagesOf(response.body.error)).toEqual([
      ['pge', 'pge is not a query parameter of this operation: did you mean page?'],
      ['color', 'color is not a query parameter of this operation: it accepts page, limit.'],
      ['limit', 'limit must be an integer from 1 to 500.'],
    ]);
  });

  test('a repeated one: 400', async () => {
    const { live } = await service.account();
    const response = await live.get('/v1/qrcodes?page=1&page=2&limit=0&limit=5');
    expect(response.status).toBe(400);
    expect(messagesOf(response.body.error)).toEqual([
      ['page', 'page must be given only once.'],
      ['limit', 'limit must be given only once.'],
    ]);
  });

  test('every operation refuses unknown ones', async () => {
    const { live } = await service.account();
    const operations = await operationsOf(url());
    expect(operations.length).toBeGreaterThan(20);
    for (const [method, path, { requestBody }] of operations) {
      const response = await live.send(`${path.replace('{id}', 'qr_0000000000000000000000')}?unknown_one=1`, {
        method,
        ...(requestBody === undefined ? {} : { body: '{}', headers: { 'content-type': 'application/json' } }),
      });
      expect(response.status, `${method} ${path}`).toBe(400);
      expect(response.text, `${method} ${path}`).toContain('unknown_one');
    }
  });

  test('thousands of unknown ones get a short response', async () => {
    const { live } = await service.account();
    const search = Array.from({ length: 1_000 }, (_, i) => `p${i}=`).join('&');
    expect((await live.get(`/v1/account?${search}`)).body.error.details).toHaveLength(20);
  });
});

describe('HEAD', () => {
  test('answers like GET without the body', async () => {
    const { live } = await service.account();
    const body = await created(live);
    for (const path of ['/v1/qrcodes', `/v1/qrcodes/${body.id}`, `/v1/qrcodes/${body.id}/history`, '/v1/account']) {
      const [head, get] = [await live.head(path), await live.get(path)];
      expect(head.status, path).toBe(200);
      expect(head.text).toBe('');
      expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
    }
    expect((await live.head('/v1/qrcodes/none')).status).toBe(404);
    expect((await service.client(0).head('/v1/qrcodes')).status).toBe(401);
  });
});

describe('a trailing slash', () => {
  test('is ignored', async () => {
    const { live } = await service.account();
    const { body } = await live.post('/v1/qrcodes/', newCode());
    expect((await live.get('/v1/qrcodes/')).body.pagination.total).toBe(1);
    expect((await live.get(`/v1/qrcodes/${body.id}/`)).body).toMatchObject(body);
    expect((await live.delete(`/v1/qrcodes/${body.id}/`)).status).toBe(200);
  });
});

describe('an invalid Host header', () => {
  test.each(['x', 'qr', 'api', 'a.b', '[::1', 'bad host', 'localhost:99999', ''])(
    'Host: %s is served like any other host',
    async (host) => {
      const { keys } = await service.account();
      const response = await sendRaw(url(), [
        'GET /v1/qrcodes?limit=5 HTTP/1.1',
        `Host: ${host}`,
        `Authorization: Bearer ${keys.live}`,
      ]);
      expect(response.status).toBe(200);
      expect(JSON.parse(response.text).pagination.limit).toBe(5);
    },
  );
});

describe('an internal error', () => {
  test('reveals no internals, and has one fixed message', async () => {
    const { live } = await service.account();
    const { sql } = service.database;
    await sql`ALTER TABLE codes RENAME TO codes_elsewhere`;
    try {
      for (const response of [await live.get('/v1/qrcodes'), await live.post('/v1/qrcodes', newCode())]) {
        expect(response.status).toBe(500);
        expect(response.body).toEqual({
          error: {
            code: 'internal_error',
            message: 'Internal error. Report the X-Request-Id of this response to the operator of the service.',
          },
        });
        expect(response.text).not.toMatch(/codes_|relation|sql|stack/i);
      }
    } finally {
      await sql`ALTER TABLE codes_elsewhere RENAME TO codes`;
    }
    expect((await live.get('/v1/qrcodes')).status).toBe(200);
  });
});
