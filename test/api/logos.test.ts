import { beforeEach, describe, expect, test } from 'vitest';
import { replayState } from '../../src/maintenance/replay-state.ts';
import { jpeg, png, svg, withExif } from '../logos/images.ts';
import { scan } from '../qr/support.ts';
import { newCode } from '../support/api.ts';
import { type TestAccount, useService } from '../support/service.ts';

const maxLogos = 12;
const service = useService({ projections: false, config: { maxLogos } });

let account: TestAccount;
beforeEach(async () => {
  account = await service.account();
});

const upload = (body: Uint8Array | FormData, type = 'image/png', api = account.live) =>
  api.send('/v1/logos', {
    method: 'POST',
    body: body as NonNullable<RequestInit['body']>,
    ...(body instanceof FormData ? {} : { headers: { 'content-type': type } }),
  });
const imageOf = (shade = 0) => png({ width: 40, height: 40, color: [200, shade, 0, 255] });
const fetchBytes = async (path: string) => {
  const response = await fetch(`${service.urls[0]}${path}`, {
    headers: { authorization: `Bearer ${account.keys.live}` },
  });
  return { headers: response.headers, bytes: new Uint8Array(await response.arrayBuffer()) };
};

describe('a logo', () => {
  test('is uploaded as a body or in a form, and its image comes back without metadata', async () => {
    const photo = withExif(await jpeg(), 1);
    const { status, body } = await upload(photo, 'image/jpeg');
    expect(status).toBe(201);
    expect(body).toEqual({ id: body.id, width: 16, height: 8, format: 'jpeg', bytes: photo.length });
    expect(body.id).toMatch(/^logo_[0-9A-Za-z]{20,40}$/);

    const form = new FormData();
    form.set('file', new Blob([svg('<rect width="50" height="50" fill="red"/>')]), 'logo.exe');
    const vector = await upload(form);
    expect(vector.body).toMatchObject({ format: 'svg', width: 100, height: 50 });

    const { headers, bytes } = await fetchBytes(`/v1/logos/${body.id}`);
    expect(headers.get('content-type')).toBe('image/png');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
    expect(Buffer.from(bytes).includes('GPS')).toBe(false);
    const drawn = await fetchBytes(`/v1/logos/${vector.body.id}`);
    expect(new TextDecoder().decode(drawn.bytes)).toContain('<path fill="#FF0000" d="M 0 0 L 500 0');

    const { body: list } = await account.live.get('/v1/logos?limit=1');
    expect(list).toMatchObject({ data: [{ id: vector.body.id }], pagination: { total: 2, total_pages: 2 } });
  });

  test('belongs to one account and mode', async () => {
    const { body } = await upload(imageOf());
    const stranger = await service.account();
    for (const api of [account.test, stranger.live]) {
      expect((await api.get(`/v1/logos/${body.id}`)).status).toBe(404);
      expect((await api.delete(`/v1/logos/${body.id}`)).status).toBe(404);
      const used = await api.post('/v1/qrcodes', newCode({ style: { logo: { id: body.id } } }));
      expect(used.body.error.details).toEqual([
        { field: 'style.logo.id', message: `style.logo.id: there is no logo ${body.id}.` },
      ]);
    }
  });

  test('is drawn in the image of a code, and cannot be deleted while a code has it', async () => {
    const { body: logo } = await upload(imageOf(10));
    const style = {
      logo: { id: logo.id, size: 0.25, shape: 'circle' },
      frame: { type: 'label-bottom', text: 'Menu' },
      dotsGradient: {
        type: 'linear',
        colorStops: [
          { offset: 0, color: '#000000' },
          { offset: 1, color: '#7A1F4B' },
        ],
      },
    };
    const { status, body: code } = await account.live.post('/v1/qrcodes', newCode({ style }));
    expect(status).toBe(201);
    expect(code.style).toEqual(style);
    const path = code.image_url.replace(/^https?:\/\/[^/]+/, '');
    const image = await fetchBytes(path);
    expect(await scan(image.bytes)).toEqual([code.short_url]);
    const document = new TextDecoder().decode((await fetchBytes(`${path}?format=svg`)).bytes);
    expect(document).toContain('<image ');

    const refused = await account.live.delete(`/v1/logos/${logo.id}`);
    expect([refused.status, refused.body.error.code]).toEqual([409, 'logo_in_use']);
    // A rebuild of current state keeps the image.
    expect((await replayState(service.database.sql)).corrected).toBe(0);
    expect((await fetchBytes(`/v1/logos/${logo.id}`)).bytes.length).toBeGreaterThan(50);

    await account.live.delete(`/v1/qrcodes/${code.id}`);
    expect((await account.live.delete(`/v1/logos/${logo.id}`)).body).toEqual({ deleted: true, id: logo.id });
    const files = await service.database.sql`SELECT FROM logo_files WHERE account = ${account.id}`;
    const logos = await service.database.sql`SELECT DISTINCT hash FROM logos WHERE account = ${account.id}`;
    expect(files.length).toBe(logos.length);
  });

  test('that hides too much is refused with its field, in bulk with its index', async () => {
    const { body: logo } = await upload(imageOf(20));
    const tooLarge = newCode({ style: { logo: { id: logo.id, size: 0.3, margin: 8 } } });
    const one = await account.live.post('/v1/qrcodes', tooLarge);
    expect(one.status).toBe(400);
    expect(one.body.error.details[0].field).toBe('style.logo.size');
    const many = await account.live.post('/v1/qrcodes/bulk', { qrcodes: [newCode(), tooLarge] });
    expect(many.body.error.details).toMatchObject([{ index: 1, field: 'style.logo.size' }]);
  });

  test('beyond the limit is refused, also when several arrive at once', async () => {
    const other = await service.account();
    const responses = await Promise.all(
      Array.from({ length: maxLogos + 2 }, (_, i) => upload(imageOf(i), 'image/png', other.test)),
    );
    const accepted = responses.filter(({ status }) => status === 201).length;
    // A queue that is full and a race that is lost twice are no quota.
    expect(accepted).toBeLessThanOrEqual(maxLogos);
    for (let i = accepted; i < maxLogos; i++)
      expect((await upload(imageOf(100 + i), 'image/png', other.test)).status).toBe(201);
    const { status, body } = await upload(imageOf(99), 'image/png', other.test);
    expect([status, body.error.code]).toEqual([403, 'quota_exceeded']);
  });

  test('must be an image of at most 1 MiB', async () => {
    const cases: [Uint8Array | FormData, string, number, string][] = [
      [Buffer.alloc(1024 * 1024 + 1), 'image/png', 413, 'payload_too_large'],
      [Buffer.from('{}'), 'application/json', 415, 'unsupported_media_type'],
      [Buffer.from('GIF89a'), 'image/png', 400, 'invalid_request'],
      [svg('<script/>'), 'image/svg+xml', 400, 'invalid_request'],
      [new FormData(), '', 400, 'invalid_request'],
    ];
    for (const [body, type, status, code] of cases) {
      const response = await upload(body, type);
      expect([response.status, response.body.error.code]).toEqual([status, code]);
    }
    expect((await upload(svg('<script/>'), 'image/svg+xml')).body.error.details).toEqual([
      { field: 'file', message: 'The image contains a script.' },
    ]);
  });
});

test.each([
  [{ logo: { id: 'logo_1' } }, 'style.logo.id', /the id of a logo/],
  [{ logo: { id: `logo_${'0'.repeat(22)}`, size: 0.5 } }, 'style.logo.size', /a number from 0.1 to 0.3/],
  [{ logo: { id: `logo_${'0'.repeat(22)}`, sise: 0.2 } }, 'style.logo.sise', /did you mean style.logo.size\?/],
  [{ frame: { type: 'label' } }, 'style.frame.type', /one of none, box/],
  [{ frame: { type: 'box', text: 'x'.repeat(41) } }, 'style.frame.text', /1 to 40 characters/],
  [{ frame: { text: 'Menu' } }, 'style.frame.type', /is required/],
  [{ dotsGradient: { type: 'linear', colorStops: [] } }, 'style.dotsGradient.colorStops', /2 to 10 items/],
  [
    {
      dotsGradient: {
        type: 'linear',
        colorStops: [
          { offset: 2, color: '#000000' },
          { offset: 1, color: 'red' },
        ],
      },
    },
    'style.dotsGradient.colorStops[0].offset',
    /a number from 0 to 1/,
  ],
  [{ quietZone: 11 }, 'style.quietZone', /an integer from 0 to 10/],
  [{ errorCorrection: 'X' }, 'style.errorCorrection', /one of L, M, Q, H/],
  [{ backgroundColor: 'none' }, 'style.backgroundColor', /or transparent/],
  [{ quietzone: 2 }, 'style.quietzone', /did you mean style.quietZone\?/],
])('style %j: 400 that names %s', async (style, field, message) => {
  const { status, body } = await account.live.post('/v1/qrcodes', newCode({ style }));
  expect(status).toBe(400);
  const error = body.error.details.find((detail: { field: string }) => detail.field === field);
  expect(error?.message).toMatch(message);
});

test('a risky style is accepted with warnings that name its fields', async () => {
  const style = {
    quietZone: 1,
    frame: { type: 'label-top', text: 'Menu', color: '#FFFFFF', textColor: '#EEEEEE' },
    dotsGradient: {
      type: 'radial',
      rotation: 45,
      colorStops: [
        { offset: 0, color: '#000000' },
        { offset: 1, color: '#999999' },
      ],
    },
  };
  const { status, body } = await account.live.post('/v1/qrcodes', newCode({ style }));
  expect(status, JSON.stringify(body)).toBe(201);
  const fields = body.warnings.map(({ field }: { field: string }) => field);
  // What decoders say is about the style as a whole, or the length of the short link.
  expect(fields.filter((field: string) => field.startsWith('style.'))).toEqual([
    'style.dotsGradient',
    'style.dotsGradient.rotation',
    'style.quietZone',
    'style.frame.textColor',
  ]);
});
