import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Decoder, loadDecoders } from '../../src/proof/decoders.ts';
import { grayOf } from '../../src/proof/gray.ts';
import { imageFormats } from '../../src/qr/print-sizes.ts';
import { renderSvg } from '../../src/qr/render.ts';
import { png } from '../logos/images.ts';
import { scan, scanAll } from '../qr/support.ts';
import { rasterizePdf } from '../qr/vector/support.ts';
import { type TestAccount, useService } from '../support/service.ts';

const service = useService({ projections: false });

let account: TestAccount;
beforeEach(async () => {
  account = await service.account();
});

const wifi = { type: 'wifi', ssid: 'Café; "Süd"', password: 'espresso, macchiato' };
const wifiText = 'WIFI:T:WPA;S:Café\\; \\"Süd\\";P:espresso\\, macchiato;;';

/** The bytes of an image, which the client of the tests would read as text. */
async function draw(body: object) {
  const response = await fetch(`${service.urls[0]}/v1/static`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.keys.live}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(response.status, response.ok ? '' : await response.clone().text()).toBe(200);
  return { headers: response.headers, bytes: new Uint8Array(await response.arrayBuffer()) };
}

async function firstPage(pdf: Uint8Array) {
  const [page] = await rasterizePdf(pdf, 300);
  if (page === undefined) throw new Error('the file has no page');
  return page;
}

const refusal = async (body: object) => {
  const response = await account.live.post('/v1/static', body);
  return { status: response.status, code: response.body.error?.code, details: response.body.error?.details };
};

describe('a static code', () => {
  let decoders: Decoder[];
  beforeAll(async () => {
    decoders = await loadDecoders();
  });

  test.each([
    [wifi, wifiText],
    [{ type: 'vcard', first_name: '山田', last_name: 'Жуков', phone: '+81 3 1234' }, 'FN:山田 Жуков'],
    [{ type: 'text', text: 'é' }, 'é'],
    [{ type: 'text', text: 'Größe: 3 €\n日本語 🍵' }, 'Größe: 3 €\n日本語 🍵'],
    [{ type: 'email', address: 'hello@example.com', subject: 'Tisch?' }, 'mailto:hello@example.com?subject=Tisch%3F'],
    [{ type: 'phone', number: '+49 30 901820' }, 'tel:+4930901820'],
    [{ type: 'sms', number: '+49 171 1', message: 'Größe: JOIN' }, 'SMSTO:+491711:Größe: JOIN'],
    [{ type: 'geo', latitude: 52.5, longitude: 13.4 }, 'geo:52.5,13.4'],
    [{ type: 'event', title: 'Fête', starts_at: '2026-06-01' }, 'DTSTART;VALUE=DATE:20260601'],
  ])('is read by every decoder: %o', async (content, text) => {
    const { bytes } = await draw({ content, format: 'svg' });
    const { rgba, width, height } = await renderSvg(new TextDecoder().decode(bytes));
    for (const decoder of decoders)
      expect(await decoder.read(grayOf(rgba, width, height)), decoder.name).toContain(text);
  });

  test.each(imageFormats)('is a %s of the size that was asked for, and contains no text of it', async (format) => {
    const print = format === 'pdf' || format === 'eps';
    const { headers, bytes } = await draw({ content: wifi, format, ...(print ? { width_mm: 40 } : { size: 300 }) });
    expect(headers.get('content-disposition')).toBe(`attachment; filename="wifi.${format}"`);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(Buffer.from(bytes).includes('macchiato')).toBe(false);
    if (format === 'png') expect(await scan(bytes)).toEqual([wifiText]);
    if (format === 'pdf') expect(await scanAll(await firstPage(bytes))).toEqual([wifiText]);
    if (format === 'svg')
      expect(new TextDecoder().decode(bytes)).toContain('<title>QR code with the access to a Wi-Fi');
    if (format === 'eps') expect(new TextDecoder().decode(bytes)).toMatch(/^%%HiResBoundingBox: 0 0 113\.38/m);
  });

  test('can have a logo, a frame and a gradient', async () => {
    const upload = await account.live.send('/v1/logos', {
      method: 'POST',
      headers: { 'content-type': 'image/png' },
      body: png({ width: 40, height: 40, color: [200, 0, 0, 255] }) as NonNullable<RequestInit['body']>,
    });
    const style = { logo: { id: upload.body.id, size: 0.2 }, frame: { type: 'label-bottom', text: 'Wi-Fi' } };
    const { bytes } = await draw({ content: wifi, style, size: 600 });
    expect(await scan(bytes)).toEqual([wifiText]);

    const stranger = await service.account();
    const response = await stranger.live.post('/v1/static', { content: wifi, style });
    expect(response.body.error.details).toMatchObject([{ field: 'style.logo.id' }]);
    // The largest symbols have no level of error correction left for a logo.
    const text = 'x'.repeat(2_900);
    const full = await refusal({
      content: { type: 'text', text },
      size: 1024,
      style: { errorCorrection: 'L', logo: { id: upload.body.id, size: 0.3, margin: 5 } },
    });
    expect(full).toMatchObject({ status: 400, details: [{ field: 'style.logo.size' }] });
  });

  test('with a style that no decoder reads is refused, unless that is allowed', async () => {
    const body = { content: wifi, style: { dotsGradient: faint } };
    expect(await refusal(body)).toMatchObject({
      status: 400,
      code: 'unreadable_style',
      details: [{ field: 'style.dotsGradient' }],
    });
    await draw({ ...body, allow_unreadable: true });
  });

  test('says which fields are wrong, and how many bytes are too many', async () => {
    expect(await refusal({ content: { type: 'wifi', ssid: '', pasword: 'x' } })).toEqual({
      status: 400,
      code: 'invalid_request',
      details: [
        {
          field: 'content.pasword',
          message: 'content.pasword is not an accepted field: did you mean content.password?',
        },
      ],
    });
    expect((await refusal({ content: { type: 'wifi', ssid: '', password: 'x' } })).details).toEqual([
      { field: 'content.ssid', message: 'content.ssid must have 1 to 32 bytes, and has 0.' },
      {
        field: 'content.password',
        message: 'content.password must have 8 to 63 bytes, or 64 hexadecimal digits, for WPA, and has 1.',
      },
    ]);
    expect((await refusal({ content: { type: 'fax' }, size: 3, nope: 1 })).details).toEqual([
      { field: 'nope', message: expect.any(String) },
      { field: 'size', message: 'size must be an integer from 64 to 2048.' },
      {
        field: 'content.type',
        message: 'content.type must be one of wifi, vcard, text, email, phone, sms, geo, event.',
      },
    ]);
    expect((await refusal({})).details).toEqual([{ field: 'content', message: 'content is required.' }]);
    const long = (length: number, style = {}) =>
      refusal({ content: { type: 'text', text: 'é'.repeat(length) }, style, size: 600 });
    expect((await long(1_200)).details).toEqual([
      {
        field: 'content',
        message:
          'content has 2,400 bytes, 70 more than the largest QR code with error correction M has room for (2,330). Shorten it, or set style.errorCorrection to L (2,952 bytes).',
      },
    ]);
    expect((await long(1_500)).details[0].message).toContain('670 more than');
    await draw({ content: { type: 'text', text: 'é'.repeat(1_165) }, size: 600 });
    expect((await refusal({ content: { type: 'text', text: 'é'.repeat(1_165) }, size: 100 })).details).toEqual([
      { field: 'size', message: 'size does not fit: size must be at least 185 for a QR code with as many modules.' },
    ]);
  });

  test('is checked by a preflight for its own number of modules', async () => {
    const preflight = (body: object) => account.live.post('/v1/preflight', body);
    const short = await preflight({ style: {}, content: wifi });
    expect(short.body).toMatchObject({ readable: true, reasons: [] });
    const long = await preflight({ style: {}, content: { type: 'text', text: 'x'.repeat(500) } });
    expect(long.body.reasons.map(({ message }: { message: string }) => message).join()).toMatch(/content|Less content/);
    const both = await preflight({ style: {}, short_code: 'menu', content: wifi });
    expect(both.body.error.details).toMatchObject([{ field: 'content' }]);
    const wrong = await preflight({ style: {}, content: { type: 'geo', latitude: 91, longitude: 0 } });
    expect(wrong.body.error.details).toEqual([
      { field: 'content.latitude', message: 'content.latitude must be a number from -90 to 90.' },
    ]);
  });

  test('leaves nothing behind but a request that was counted', async () => {
    const rows = () =>
      service.database.sql`SELECT (SELECT count(*) FROM events)::int + (SELECT count(*) FROM codes)::int AS rows`;
    const before = await rows();
    const { headers } = await draw({ content: wifi });
    expect(await rows()).toEqual(before);
    const limit = Number(headers.get('x-ratelimit-limit'));
    expect(Number(headers.get('x-ratelimit-remaining'))).toBeLessThan(limit);
  });
});

const faint = {
  type: 'linear',
  colorStops: [
    { offset: 0, color: '#FFFFFF' },
    { offset: 1, color: '#FEFEFE' },
  ],
};
