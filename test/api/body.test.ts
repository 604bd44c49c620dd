import { describe, expect, test } from 'vitest';
import { created, newCode } from '../support/api.ts';
import { sendRaw } from '../support/raw-http.ts';
import { useService } from '../support/service.ts';

const service = useService({ projections: false });
const json = { 'content-type': 'application/json' };
const mebibyte = 1024 * 1024;

async function post(body: RequestInit['body'], headers: Record<string, string> = json) {
  const { live } = await service.account();
  return live.send('/v1/qrcodes', { method: 'POST', body: body ?? null, headers });
}

/** A create payload, padded with spaces to a size. */
const ofSize = (bytes: number) => {
  const payload = JSON.stringify(newCode());
  return payload + ' '.repeat(bytes - payload.length);
};

const invalid = (message: string) => ({
  error: { code: 'invalid_request', message, details: [{ field: 'body', message }] },
});

describe('a body that is not JSON', () => {
  test.each([
    ['empty', '', ', and it is empty'],
    ['truncated', '{"name": "Menu", "destination_url"', ': line 1, column 35: expected ":", found the end of the text'],
    ['a trailing comma', '{\n  "name": "Menu",\n}', ": line 3, column 1: expected a name in double quotes, found '}'"],
    ['two values', '{}{}', ": line 1, column 3: expected the end of the text, found '{'"],
    ['a form', 'name=Menu&destination_url=x', ": line 1, column 1: expected a value, found 'n'"],
    ['not a number', '{"name": NaN}', ": line 1, column 10: expected a value, found 'N'"],
    ['a line break in a string', '{"name": "Me\nnu"}', ': line 1, column 13: a line break in a string must be escaped'],
  ])('%s: 400 that says where', async (_, body, problem) => {
    const response = await post(body);
    expect(response.status).toBe(400);
    expect(response.body).toEqual(invalid(`The body must be valid JSON${problem}.`));
  });

  test('half a million brackets: 400', async () => {
    const response = await post('['.repeat(500_000));
    expect([response.status, response.body.error.code]).toEqual([400, 'invalid_request']);
  });

  test.each([
    ['an invalid start byte', [0x22, 0xff, 0x22]],
    ['a truncated character', [0x22, 0xe2, 0x82]],
    ['a lone surrogate', [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ['an overlong slash', [0x22, 0xc0, 0xaf, 0x22]],
    ['UTF-16', [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]],
  ])('invalid UTF-8, %s: 400', async (_, bytes) => {
    const response = await post(new Uint8Array(bytes));
    expect(response.status).toBe(400);
    expect(response.body).toEqual(invalid('The body must arrive whole and be UTF-8 text.'));
  });
});

describe('unusual but valid JSON', () => {
  test.each([
    ['a byte order mark', `\ufeff${JSON.stringify(newCode())}`],
    ['spaces and line breaks', JSON.stringify(newCode(), null, '\r\n\t ')],
    ['escapes', '{"name": "\\u004d\\ud83c\\udf4b", "destination_url": "https:\\/\\/example.com"}'],
    [
      'a duplicate field, of which the last counts',
      '{"name": 7, "name": "Menu", "destination_url": "https://example.com"}',
    ],
  ])('%s: 201', async (_, body) => {
    expect((await post(body)).status).toBe(201);
  });

  test.each([
    ['NUL in the name', { name: 'Me\u0000nu' }, 'name'],
    ['NUL in the destination', { destination_url: 'https://example.com/\u0000' }, 'destination_url'],
    ['NUL in the short code', { short_code: 'me\u0000nu' }, 'short_code'],
    ['NUL in the style', { style: { dotsColor: '#12345\u0000' } }, 'style.dotsColor'],
    ['NUL in the name of a field', { 'a\u0000': 1 }, 'a\u0000'],
    ['a lone surrogate in the name', { name: 'Menu \ud800' }, 'name'],
    ['a lone surrogate in the destination', { destination_url: 'https://example.com/\udfff' }, 'destination_url'],
    ['an escape sequence', { name: '\u001b[2J' }, 'name'],
  ])('%s: 400, not 500', async (_, fields, field) => {
    const response = await post(JSON.stringify(newCode(fields)));
    expect(response.status).toBe(400);
    expect(response.body.error.details.map((error: { field: string }) => error.field)).toEqual([field]);
  });

  test('100,000 levels of nesting in a field: 400', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const response = await post(`{"name":"x","destination_url":"https://example.com","style":${deep}}`);
    expect(response.status).toBe(400);
    expect(response.body.error.details).toMatchObject([{ field: 'style' }]);
  });

  test('50,000 unknown fields: 400', async () => {
    const fields = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`f${i}`, 1]));
    expect((await post(JSON.stringify(fields))).status).toBe(400);
  });
});

describe('content type', () => {
  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'Application/JSON',
  ])('%s is accepted', async (type) => {
    expect((await post(JSON.stringify(newCode()), { 'content-type': type })).status).toBe(201);
  });

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'application/vnd.api+json',
    'application/json; charset=iso-8859-1',
    'json',
  ])('%s: 415', async (type) => {
    const response = await post(JSON.stringify(newCode()), { 'content-type': type });
    expect(response.status).toBe(415);
    expect(response.body.error.code).toBe('unsupported_media_type');
  });

  test('no content type: 415', async () => {
    const { keys } = await service.account();
    const response = await sendRaw(
      service.urls[0] as string,
      ['POST /v1/qrcodes HTTP/1.1', 'Host: localhost', `Authorization: Bearer ${keys.live}`, 'Content-Length: 2'],
      '{}',
    );
    expect(response.status).toBe(415);
  });

  test.each(['gzip', 'br', 'identity, gzip'])('compressed with %s: 415', async (encoding) => {
    const response = await post(Bun.gzipSync(JSON.stringify(newCode())), { ...json, 'content-encoding': encoding });
    expect(response.status).toBe(415);
    expect(response.body.error.message).toContain('Content-Encoding');
  });
});

describe('body size', () => {
  test('1 MiB is accepted', async () => {
    expect((await post(ofSize(mebibyte))).status).toBe(201);
  });

  test('1 MiB and one byte: 413', async () => {
    const response = await post(ofSize(mebibyte + 1));
    expect(response.status).toBe(413);
    expect(response.body).toEqual({
      error: { code: 'payload_too_large', message: 'The body must have at most 1 MiB.' },
    });
  });

  test('1 MiB and one byte in chunks without Content-Length: 413', async () => {
    const pieces = new ReadableStream({
      start(controller) {
        const text = new TextEncoder().encode(ofSize(mebibyte + 1));
        for (let at = 0; at < text.length; at += 100_000) controller.enqueue(text.subarray(at, at + 100_000));
        controller.close();
      },
    });
    const response = await post(pieces);
    expect(response.status).toBe(413);
    expect(response.body.error.code).toBe('payload_too_large');
  });

  test('a Content-Length of 1 GB: 413 before the body is sent', async () => {
    const { keys } = await service.account();
    const response = await sendRaw(service.urls[0] as string, [
      'POST /v1/qrcodes HTTP/1.1',
      'Host: localhost',
      `Authorization: Bearer ${keys.live}`,
      'Content-Type: application/json',
      `Content-Length: ${1024 * mebibyte}`,
    ]);
    expect(response.status).toBe(413);
    expect(JSON.parse(response.text).error.code).toBe('payload_too_large');
    expect(response.headers.get('x-ratelimit-remaining')).toBe('299');
  });

  test('PATCH and key creation have the same limit', async () => {
    const { live } = await service.account();
    const body = await created(live);
    const name = 'x'.repeat(mebibyte);
    expect((await live.patch(`/v1/qrcodes/${body.id}`, { name })).status).toBe(413);
    expect((await live.post('/v1/account/keys', { name })).status).toBe(413);
  });
});
