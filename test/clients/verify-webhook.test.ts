import { describe, expect, test } from 'vitest';
import { verifyWebhook } from '../../clients/typescript/src/index.ts';
import { newSigningSecret } from '../../src/webhooks/secrets.ts';
import { signedHeaders } from '../../src/webhooks/signature.ts';

describe('verifyWebhook', () => {
  const secret = newSigningSecret();
  const sent = JSON.stringify({
    type: 'scan.created',
    timestamp: '2026-03-01T09:30:00.000Z',
    data: { city: 'Zürich' },
  });
  const headers = (at = new Date()) => signedHeaders({ id: 'evt_1', at, body: sent, secrets: [secret] });

  test('returns what the service has signed, from headers of any kind', async () => {
    for (const given of [headers(), new Headers(headers())])
      expect(await verifyWebhook({ body: sent, headers: given, secret })).toEqual(JSON.parse(sent));
  });

  test.each([
    ['another body', { body: `${sent} ` }],
    ['another secret', { secret: newSigningSecret() }],
    ['no secret', { secret: 'secret' }],
    ['an old request', { headers: headers(new Date(Date.now() - 301_000)) }],
    ['a request without a signature', { headers: {} }],
    ['a signature that is none', { headers: { ...headers(), 'webhook-signature': 'v1,! v2,AAAA v1' } }],
    ['another id', { headers: { ...headers(), 'webhook-id': 'evt_2' } }],
    ['a time that is none', { headers: { ...headers(), 'webhook-timestamp': 'now' } }],
  ])('refuses %s', async (_, changed) => {
    await expect(verifyWebhook({ body: sent, headers: headers(), secret, ...changed })).rejects.toMatchObject({
      name: 'WebhookVerificationError',
    });
  });
});
