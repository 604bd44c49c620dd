import { Elysia } from 'elysia';
import { describe, expect, test } from 'vitest';
import { createImages } from '../../src/api/images/images.ts';
import { codesOf, readSheet } from '../../src/api/images/sheet-request.ts';
import { addressesOf, readConfig } from '../../src/config/config.ts';
import { createLogger } from '../../src/lib/logger.ts';
import type { RenderedFor, Renderer } from '../../src/render/renderer.ts';
import { scan } from '../qr/support.ts';
import { created, newCode } from '../support/api.ts';
import { reaches } from '../support/eventually.ts';
import { type TestAccount, useService } from '../support/service.ts';

const service = useService({ projections: false });

const bytesOf = async (url: string, headers: Record<string, string> = {}, method = 'GET') => {
  const response = await fetch(url, { method, headers });
  return { status: response.status, headers: response.headers, bytes: new Uint8Array(await response.arrayBuffer()) };
};

async function given(fields: Record<string, unknown> = {}) {
  const account: TestAccount = await service.account();
  const code = await created(account.live, fields);
  const authorization = { authorization: `Bearer ${account.keys.live}` };
  const download = `${service.urls[0]}/v1/qrcodes/${code.id}/download`;
  return { ...account, code, authorization, download, image: `${service.urls[0]}/images/${code.id}/public` };
}

/** Width and height are in the first chunk of a PNG. */
const sizeOf = (png: Uint8Array) => {
  const view = new DataView(png.buffer, png.byteOffset);
  return [view.getUint32(16), view.getUint32(20)];
};

describe('GET /v1/qrcodes/:id/download', () => {
  test('returns a PNG of 512 pixels by default that decodes to the short link', async () => {
    const { code, download, authorization } = await given({ style: { dotsType: 'classy', cornersDotType: 'dot' } });
    const { status, headers, bytes } = await bytesOf(download, authorization);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('image/png');
    expect(headers.get('x-ratelimit-remaining')).toMatch(/^\d+$/);
    expect(sizeOf(bytes)).toEqual([512, 512]);
    expect(await scan(bytes)).toEqual([code.short_url]);
  });

  test('returns an SVG in the requested size', async () => {
    const { code, download, authorization } = await given();
    const { status, headers, bytes } = await bytesOf(`${download}?format=svg&size=300`, authorization);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('image/svg+xml; charset=utf-8');
    const text = new TextDecoder().decode(bytes);
    expect(text).toContain('width="300"');
    expect(text).toContain(code.short_url);
  });

  test('returns PDF and EPS in the requested width, and a PNG that records its resolution', async () => {
    const { code, download, authorization } = await given();
    const pdf = await bytesOf(`${download}?format=pdf&width_mm=25.4&color=cmyk`, authorization);
    expect(pdf.headers.get('content-type')).toBe('application/pdf');
    expect(pdf.headers.get('content-disposition')).toBe(`attachment; filename="${code.short_code}.pdf"`);
    expect(Buffer.from(pdf.bytes).toString('latin1')).toContain('/MediaBox[0 0 72 72]');
    const eps = await bytesOf(`${download}?format=eps&width_mm=25.4`, authorization);
    expect(eps.headers.get('content-type')).toBe('application/postscript');
    expect(Buffer.from(eps.bytes).toString('latin1')).toContain('%%HiResBoundingBox: 0 0 72 72');
    expect(new Set([pdf, eps].map(({ headers }) => headers.get('etag'))).size).toBe(2);
    const png = await bytesOf(`${download}?width_mm=25.4&dpi=600`, authorization);
    expect(sizeOf(png.bytes)).toEqual([600, 600]);
    expect(new DataView(png.bytes.buffer).getUint32(41)).toBe(Math.round(600 / 0.0254));
    expect(await scan(png.bytes)).toEqual([code.short_url]);
  });

  test('the file is named after the short code', async () => {
    const { code, download, authorization } = await given({ name: 'Café "Lumière"/menu' });
    const { headers } = await bytesOf(`${download}?format=svg`, authorization);
    expect(headers.get('content-disposition')).toBe(`attachment; filename="${code.short_code}.svg"`);
  });

  test.each([
    ...['size=0', 'size=63', 'size=2049', 'size=x', 'size=1.5', 'format=gif', 'format='],
    ...['width_mm=4.9&format=pdf', 'width_mm=1000.5&format=eps', 'width_mm=5e1&format=pdf', 'width_mm=50&format=svg'],
    ...['width_mm=5&dpi=72', 'width_mm=1000&dpi=1200', 'dpi=71', 'dpi=300&format=pdf', 'size=600&format=pdf'],
    ...['size=600&width_mm=50', 'color=cmyk', 'color=spot&format=pdf'],
  ])('%s: 400 that names the parameter', async (query) => {
    const { live, code } = await given();
    const { status, body } = await live.get(`/v1/qrcodes/${code.id}/download?${query}`);
    expect(status).toBe(400);
    expect(body.error.details[0].field).toBe(query.split('=')[0]);
  });

  test('answers 304 if the client has the file', async () => {
    const { download, authorization } = await given();
    const first = await bytesOf(download, authorization);
    expect(first.headers.get('cache-control')).toBe('private, max-age=31536000, immutable');
    const again = await bytesOf(download, { ...authorization, 'if-none-match': first.headers.get('etag') ?? '' });
    expect(again.status).toBe(304);
    expect(again.bytes).toHaveLength(0);
    const other = await bytesOf(`${download}?size=600`, authorization);
    expect(other.headers.get('etag')).not.toBe(first.headers.get('etag'));
  });

  test('is refused to another account, the other mode and requests without a key', async () => {
    const { download, keys } = await given();
    const { keys: others } = await service.account();
    for (const key of [others.live, keys.test])
      expect((await bytesOf(download, { authorization: `Bearer ${key}` })).status).toBe(404);
    expect((await bytesOf(download)).status).toBe(401);
  });
});

describe('the public image', () => {
  test('needs no key and is cacheable for good', async () => {
    const { code, image } = await given();
    expect(new URL(code.image_url).pathname).toBe(new URL(image).pathname);
    const { status, headers, bytes } = await bytesOf(image);
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(headers.get('content-type')).toBe('image/png');
    expect(await scan(bytes)).toEqual([code.short_url]);
    expect((await bytesOf(image, { 'if-none-match': headers.get('etag') ?? '' })).status).toBe(304);
    const head = await bytesOf(image, {}, 'HEAD');
    expect([head.status, head.headers.get('etag'), head.bytes.length]).toEqual([200, headers.get('etag'), 0]);
  });

  test('does not reveal the name of the code', async () => {
    const { code, image } = await given({ name: 'Secret campaign' });
    const { headers } = await bytesOf(image);
    expect(headers.get('content-disposition')).toBe(`inline; filename="${code.short_code}.png"`);
    expect(JSON.stringify([...headers])).not.toContain('campaign');
  });

  test('answers 503 when a client waits for too many, and draws the others', async () => {
    const { image } = await given();
    const held = Promise.withResolvers<Uint8Array<ArrayBuffer>>();
    const renderer = { run: (() => held.promise) as unknown as Renderer['run'] };
    const images = createImages({ sql: service.database.sql, addresses: addressesOf(readConfig({}), 3000) }, renderer);
    const app = new Elysia();
    images.servePublic(app, { log: createLogger('silent', false), trustedProxies: { v4: [], v6: [] } });
    const answered: Response[] = [];
    const all = Array.from({ length: 75 }, async (_, i) => {
      answered.push(await app.handle(new Request(`${image}?size=${1800 + i}`)));
    });
    await reaches(11, () => answered.length);
    for (const { status, headers } of answered) expect([status, headers.get('retry-after')]).toEqual([503, '2']);
    expect(await answered[0]?.json()).toMatchObject({ error: { code: 'unavailable' } });
    held.resolve(new Uint8Array(1));
    await Promise.all(all);
    expect(answered.slice(11).map(({ status }) => status)).toEqual(Array.from({ length: 64 }, () => 200));
    expect((await app.handle(new Request(`${image}?size=64`))).status, 'draws again afterwards').toBe(200);
  });

  test('is drawn for the account of its code, so that images of one account do not delay the others', async () => {
    const { image, id: account } = await given();
    const drawnFor: RenderedFor[] = [];
    const run = async (_kind: string, _load: unknown, whom: RenderedFor) => {
      drawnFor.push(whom);
      return new Uint8Array(1);
    };
    const renderer = { run: run as unknown as Renderer['run'] };
    const images = createImages({ sql: service.database.sql, addresses: addressesOf(readConfig({}), 3000) }, renderer);
    const app = new Elysia();
    images.servePublic(app, { log: createLogger('silent', false), trustedProxies: { v4: [], v6: [] } });
    expect((await app.handle(new Request(`${image}?size=1799`))).status).toBe(200);
    expect(drawnFor).toMatchObject([{ account, isPublic: true }]);
  });

  test('20 concurrent requests get the same image', async () => {
    const { image } = await given({ style: { dotsType: 'dots' } });
    const all = await Promise.all(Array.from({ length: 20 }, () => bytesOf(`${image}?size=1024`)));
    for (const { status, bytes } of all) {
      expect(status).toBe(200);
      expect(bytes).toEqual(all[0]?.bytes);
    }
  });

  test('is gone after its code is deleted', async () => {
    const { live, code, image, download, authorization } = await given();
    await live.delete(`/v1/qrcodes/${code.id}`);
    expect((await bytesOf(image)).status).toBe(410);
    expect((await bytesOf(download, authorization)).status).toBe(404);
  });

  test.each(['qr_0000000000000000000000', 'nonsense', '%00', '..%2F..%2Fetc'])('returns 404 for %s', async (id) => {
    const { status, headers } = await bytesOf(`${service.urls[0]}/images/${id}/public`);
    expect(status).toBe(404);
    expect(headers.get('content-type')).toContain('application/json');
  });
});

describe('preflight', () => {
  test('of a code and of a style that no code has yet', async () => {
    const { live, code } = await given({ style: { dotsType: 'rounded' } });
    const ofCode = await live.get(`/v1/qrcodes/${code.id}/preflight`);
    expect(ofCode.status).toBe(200);
    expect(ofCode.body).toMatchObject({ readable: true, contrast: 21, reasons: [] });
    const ofStyle = await live.post('/v1/preflight', { style: { dotsType: 'rounded' }, short_code: code.short_code });
    expect(ofStyle.body).toEqual(ofCode.body);
    const invisible = await live.post('/v1/preflight', { style: { dotsColor: '#FFFFFF' } });
    expect(invisible.body).toMatchObject({ readable: false, smallest_mm: null });
  });

  test.each([
    ['style.dotsType', { style: { dotsType: 'star' } }],
    ['style', {}],
    ['short_code', { style: {}, short_code: 'x' }],
    ['short_url', { style: {}, short_url: 'x' }],
  ])('400 that names %s', async (field, body) => {
    const { live } = await service.account();
    const response = await live.post('/v1/preflight', body);
    expect(response.status).toBe(400);
    expect(response.body.error.details[0].field).toBe(field);
  });

  const invisible = {
    type: 'linear',
    colorStops: [
      { offset: 0, color: '#FFFFFF' },
      { offset: 1, color: '#FEFEFE' },
    ],
  };

  test('create, bulk and duplicate refuse what a gradient makes unreadable, unless allow_unreadable is true', async () => {
    const { live } = await service.account();
    const style = { dotsType: 'dots', dotsGradient: invisible, quietZone: 6 };
    const unreadable = newCode({ style });
    // A create waits only so long for a proof; a cached one is there at once.
    for (const proofed of [
      style,
      { dotsType: 'dots' },
      { ...style, dotsGradient: undefined },
      { ...style, quietZone: undefined },
    ])
      expect((await live.post('/v1/preflight', { style: proofed })).status).toBe(200);
    const refused = await live.post('/v1/qrcodes', unreadable);
    expect([refused.status, refused.body.error.code]).toEqual([400, 'unreadable_style']);
    expect(refused.body.error.details.map(({ field }: { field: string }) => field)).toEqual(['style.dotsGradient']);
    const bulk = await live.post('/v1/qrcodes/bulk', { qrcodes: [newCode(), unreadable] });
    expect([bulk.status, bulk.body.error.details[0].index]).toEqual([400, 1]);
    const created = await live.post('/v1/qrcodes', { ...unreadable, allow_unreadable: true });
    expect(created.status).toBe(201);
    expect(created.body).not.toHaveProperty('allow_unreadable');
    expect(created.body.warnings.map(({ field }: { field: string }) => field)).toContain('style.dotsGradient');
    const path = `/v1/qrcodes/${created.body.id}/duplicate`;
    expect((await live.post(path, {})).body.error).toMatchObject({
      code: 'unreadable_style',
      details: [{ field: 'style.dotsGradient', message: expect.any(String) }],
    });
    expect((await live.post(path, { allow_unreadable: true })).body.style).toEqual(style);
  });

  test.each([
    ['قائمة', 'Arabic characters'],
    ['תפריט', 'Hebrew characters'],
    ['เมนู', 'Thai characters'],
    ['मेन्यू', 'Devanagari characters'],
    ['菜单', 'Chinese characters'],
    ['メニュー ☕', 'Japanese characters, “☕”'],
    ['메뉴', 'Korean characters'],
  ])('a frame with %s is refused with 422 that names the field and the script', async (text, missing) => {
    const { live } = await service.account();
    const style = { frame: { type: 'label-bottom', text } };
    for (const [path, body] of [
      ['/v1/qrcodes', newCode({ style, allow_unreadable: true })],
      ['/v1/preflight', { style }],
      ['/v1/qrcodes/bulk', { qrcodes: [newCode(), newCode({ style })] }],
    ] as const) {
      const { status, body: response } = await live.post(path, body);
      expect([status, response.error.code], path).toEqual([422, 'unsupported_characters']);
      expect(response.error.details).toMatchObject([
        { field: 'style.frame.text', message: expect.stringContaining(`frames have no ${missing}`) },
      ]);
    }
    expect((await live.get('/v1/qrcodes')).body.pagination.total).toBe(0);
  });

  test('colors alone are never refused, and neither is a narrow quiet zone on white', async () => {
    const { live } = await service.account();
    const white = await live.post('/v1/qrcodes', newCode({ style: { dotsColor: '#FFFFFF', quietZone: 5 } }));
    expect(white.status).toBe(201);
    expect(white.body.warnings[0].field).toBe('style.dotsColor');
    const narrow = await live.post('/v1/qrcodes', newCode({ style: { quietZone: 0 } }));
    expect(narrow.status).toBe(201);
    expect(narrow.body.warnings[0].field).toBe('style.quietZone');
  });

  test("is refused for another account's code", async () => {
    const { code } = await given();
    const { live } = await service.account();
    expect((await live.get(`/v1/qrcodes/${code.id}/preflight`)).status).toBe(404);
  });
});

describe('POST /v1/sheets', () => {
  test('answers with a PDF of all codes with a tag, or of the given ones in their order', async () => {
    const { live, code, keys } = await given({ tags: ['tables'] });
    await created(live, { name: 'Table 2', tags: ['tables'] });
    const sheet = async (body: object) => {
      const headers = { authorization: `Bearer ${keys.live}`, 'content-type': 'application/json' };
      const response = await fetch(`${service.urls[0]}/v1/sheets`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      expect(response.headers.get('content-type')).toBe('application/pdf');
      return Buffer.from(await response.arrayBuffer()).toString('latin1');
    };
    const grid = { page: { width: 60, height: 30 }, columns: 1, rows: 1, margins: 2 };
    expect(await sheet({ tag: 'Tables', layout: grid, caption: 'name' })).toContain('/Count 2');
    expect(await sheet({ qr_ids: [code.id, code.id, code.id], layout: 'letter-3x10' })).toContain('/Count 1');
  });

  test('sorts labels by name as people count, or as given', async () => {
    const { live, id } = await service.account();
    const ids: string[] = [];
    for (const name of ['Table 10', 'Table 9', 'table 2'])
      ids.push((await created(live, { name, tags: ['sorted'] })).id);
    const caller = { account: id, mode: 'live' } as Parameters<typeof codesOf>[1];
    const labels = async (body: object) => {
      const codes = await codesOf(service.database, caller, readSheet({ layout: 'a4-3x8', ...body }));
      return codes.map(({ name }) => name);
    };
    expect(await labels({ tag: 'sorted' })).toEqual(['table 2', 'Table 9', 'Table 10']);
    expect(await labels({ tag: 'sorted', sort: 'created_at' })).toEqual(['Table 10', 'Table 9', 'table 2']);
    const twice = [ids[1], ids[0], ids[1]];
    expect(await labels({ qr_ids: twice })).toEqual(['Table 9', 'Table 10', 'Table 9']);
    expect(await labels({ qr_ids: twice, sort: 'name' })).toEqual(['Table 9', 'Table 9', 'Table 10']);
  });

  test.each([
    [400, 'qr_ids', { layout: 'a4-3x8' }],
    [400, 'sort', { tag: 'x', layout: 'a4-3x8', sort: '-name' }],
    [400, 'qr_ids', { tag: 'x', qr_ids: ['qr_x'], layout: 'a4-3x8' }],
    [400, 'layout', { tag: 'x', layout: 'a4-9x9' }],
    [400, 'layout', { tag: 'x' }],
    [400, 'layout.columns', { tag: 'x', layout: { page: 'a4', columns: 0, rows: 1 } }],
    [
      400,
      'layout.margins.top',
      { tag: 'x', layout: { page: 'a4', columns: 1, rows: 1, margins: { top: -1, right: 1, bottom: 1, left: 1 } } },
    ],
    [400, 'layout', { tag: 'x', layout: { page: 'a4', columns: 40, rows: 40 } }],
    [400, 'skip', { tag: 'x', layout: 'a4-3x8', skip: 24 }],
    [404, 'qr_ids', { qr_ids: ['qr_x'], layout: 'a4-3x8' }],
    [404, 'tag', { tag: 'x', layout: 'a4-3x8' }],
  ])('%i that names %s', async (status, field, body) => {
    const { live } = await service.account();
    const response = await live.post('/v1/sheets', body);
    expect(response.status).toBe(status);
    expect(response.body.error.details[0].field).toBe(field);
  });
});
