import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { created, newCode } from '../support/api.ts';
import { endWindows } from '../support/rate-windows.ts';
import { useService } from '../support/service.ts';

const service = useService({ projections: false });

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom('Menu', 'https://example.com', 'active', 'draft', 'url', '#1A2B3C', 'dots', '\u0000', '\ud800', ''),
);
const value = fc.oneof(text, fc.jsonValue({ maxDepth: 2 }));
const field = fc.constantFrom(
  ...['name', 'destination_url', 'short_code', 'status', 'style', 'type', 'destination', 'active', 'mode', 'qrcodes'],
  ...['id', '__proto__', 'constructor', 'a/b', ''],
);
/** Bodies that are almost valid, and arbitrary JSON. */
const almost = fc
  .array(fc.tuple(field, value), { maxLength: 3 })
  .map((fields) => ({ ...newCode(), ...Object.fromEntries(fields) }));
const body = fc.oneof({ weight: 3, arbitrary: almost }, { weight: 1, arbitrary: value });

describe('arbitrary JSON bodies', () => {
  test('are accepted or refused as documented, never with 500', async () => {
    const { live } = await service.account();
    const { id } = await created(live);
    const send = {
      create: (sent: unknown) => live.post('/v1/qrcodes', sent),
      bulk: (sent: unknown) => live.post('/v1/qrcodes/bulk', { qrcodes: [newCode(), sent] }),
      change: (sent: unknown) => live.patch(`/v1/qrcodes/${id}`, sent),
      duplicate: (sent: unknown) => live.post(`/v1/qrcodes/${id}/duplicate`, sent),
      key: (sent: unknown) => live.post('/v1/account/keys', sent),
    };
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...Object.values(send)), body, async (call, sent) => {
        const { status, text: response } = await call(sent);
        if (status === 429) await endWindows(service.database.sql);
        expect(status, response).toBeOneOf([200, 201, 400, 409, 429]);
      }),
      { numRuns: 150 },
    );
  });

  test('accepted values are returned as given', async () => {
    const { live } = await service.account();
    const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }).filter((given) => given.trim() !== '');
    const path = fc.webUrl({ withFragments: true, withQueryParameters: true });
    await fc.assert(
      fc.asyncProperty(name, path, async (given, destination_url) => {
        const { status, body: code } = await live.post('/v1/qrcodes', { name: given, destination_url });
        expect(status).toBe(201);
        expect(code).toMatchObject({ name: given.trim(), destination_url });
        expect((await live.get(`/v1/qrcodes/${code.id}`)).body).toMatchObject(code);
      }),
      { numRuns: 25 },
    );
  });
});
