import type { TSchema } from '@sinclair/typebox';
import { deliveryRules, eventRules } from '../webhooks/webhook-rules.ts';
import { ScanEvent } from '../webhooks/webhook-schemas.ts';
import { eventBodies } from '../webhooks/webhooks-schemas.ts';
import { content } from './components.ts';

function deliveryHeader(name: string, description: string, example: string) {
  return { name, in: 'header', required: true, description, schema: { type: 'string' }, example };
}

const deliveryHeaders = [
  deliveryHeader('webhook-id', 'Identifier of the delivery, the same on every attempt.', 'whd_0VMOcq2hE3kx0dTtWq8LbY'),
  deliveryHeader('webhook-timestamp', 'Unix time of the attempt, in seconds.', '1900000000'),
  deliveryHeader(
    'webhook-signature',
    '`v1,` and the HMAC-SHA-256 of `<webhook-id>.<webhook-timestamp>.<body>` under the secret, in base64. For 24 hours after a rotation two of them, separated by a space.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
];

/** A request that the service sends to a webhook. */
const sentRequest = (tag: string, operationId: string, description: string, summary: string, body: TSchema) => ({
  post: {
    tags: [tag],
    summary,
    description,
    operationId,
    // The receiver authenticates the request by its signature.
    security: [],
    parameters: deliveryHeaders,
    requestBody: { required: true, content: content(body) },
    responses: {
      '2XX': { description: 'The delivery has succeeded. Up to 1 KiB of the body is kept in the delivery log.' },
      410: { description: 'The webhook is disabled.' },
      default: { description: 'Any other response, and none within 15 s: the delivery is retried.' },
    },
  },
});

/** The requests that the service sends: to the webhook of /v1/account/webhook, and to the webhooks of /v1/webhooks. */
export const webhooks = Object.fromEntries([
  ['scan.created', sentRequest('Webhook', 'receiveScanCreated', deliveryRules, 'A code was scanned', ScanEvent)],
  ...eventBodies.map(({ schemaName, summary, schema }) => [
    schemaName,
    sentRequest('Webhooks', `receive${schemaName}`, eventRules, summary, schema),
  ]),
]);
