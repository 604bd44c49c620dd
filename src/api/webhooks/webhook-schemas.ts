import { type TSchema, Type as t } from '@sinclair/typebox';
import { oneOf } from '../../../events/one-of.ts';
import { modes } from '../../../events/plans.ts';
import { contractScan } from '../../../events/webhooks/notification.ts';
import { disabledReasons } from '../../../events/webhooks/webhook.ts';
import type { ContractBody } from '../../webhooks/body.ts';
import { deliveryStatuses } from '../../webhooks/deliveries.ts';
import { exact, pageQuery, time } from '../http/schemas.ts';

/** Schemas of webhooks and their deliveries. */

export const timeOrNull = (description: string, examples: (string | null)[] = [null]) =>
  t.Union([t.String({ format: 'date-time' }), t.Null()], { description, examples });

export const NewWebhook = t.Object(
  {
    url: t.String({
      description: 'URL that scans are POSTed to: https, at most 2,048 characters, without user name and password.',
      'x-expected': 'an https URL',
    }),
  },
  { ...exact, examples: [{ url: 'https://example.com/hooks/scans' }] },
);

/** What every webhook has besides its settings. */
export const secretFields = {
  failing_since: timeOrNull('Time of the first failure since the last success; null if the last attempt succeeded.'),
  secret: t.String({
    description: 'Secret that deliveries are signed with.',
    examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  }),
  old_secret_valid_until: timeOrNull(
    'When the secret from before the last rotation stops signing; null if only the current secret signs.',
  ),
};

export const Webhook = t.Object(
  {
    url: t.String({ format: 'iri', examples: ['https://example.com/hooks/scans'] }),
    mode: oneOf(modes, { description: 'Mode of the API key of this request; each mode has its own webhook.' }),
    status: oneOf(['enabled', 'disabled'], { description: 'Whether scans are sent.' }),
    disabled_reason: t.Union([oneOf(disabledReasons), t.Null()], {
      description:
        '`gone`: the receiver answered 410. `failing`: every delivery failed for 5 days. null while the webhook is enabled.',
      examples: [null],
    }),
    status_since: time('When the status last changed.'),
    ...secretFields,
    created_at: time('When the webhook was first set.'),
  },
  exact,
);

export const DeletedWebhook = t.Object({ deleted: t.Literal(true), mode: oneOf(modes) }, exact);

const duration = t.Integer({ description: 'Duration in milliseconds.', examples: [48] });
const statusCode = t.Union([t.Integer(), t.Null()], {
  description: 'HTTP status of the response; null if there was none.',
  examples: [200],
});
const response = t.Union([t.String(), t.Null()], {
  description: 'First 1,024 bytes of the response body; null if there was no response.',
  examples: ['ok'],
});
const failure = t.Union([t.String(), t.Null()], {
  description: 'Description of the failure; null for a success.',
  examples: [null],
});

/** The body that `/v1/account/webhook` gets. */
export const ScanEvent = t.Object(
  { event: oneOf(['scan.created']), timestamp: time('When the scan happened.'), data: contractScan },
  { ...exact, description: 'The body that is POSTed.' },
) as TSchema & { static: ContractBody };

export const WebhookTest = t.Object(
  {
    delivered: t.Boolean({ description: 'Whether the receiver answered with 2xx within 15 s.' }),
    webhook_id: t.String({
      description: 'The `webhook-id` that was sent. The delivery log does not list it.',
      examples: ['whd_0VMOcq2hE3kx0dTtWq8LbY'],
    }),
    body: ScanEvent,
    status_code: statusCode,
    duration_ms: duration,
    response,
    error: failure,
  },
  exact,
);

const Attempt = t.Object(
  {
    timestamp: time('When the attempt began.'),
    duration_ms: duration,
    status_code: statusCode,
    response,
    error: failure,
  },
  exact,
);

export const Delivery = t.Object(
  {
    id: t.String({
      description: 'Sent as `webhook-id`, the same on every attempt.',
      examples: ['whd_0VMOcq2hE3kx0dTtWq8LbY'],
    }),
    status: oneOf(deliveryStatuses, { examples: ['delivered'] }),
    body: ScanEvent,
    created_at: time('When the delivery was created.'),
    next_attempt_at: timeOrNull('Time of the next attempt; null once the delivery has succeeded or failed.'),
    error: t.Union([t.String(), t.Null()], {
      description: 'Why it is not delivered; null if there was no failure.',
      examples: [null],
    }),
    attempts: t.Array(Attempt, { description: 'The last 30 attempts, oldest first.' }),
  },
  exact,
);

/** The query parameters of a list of deliveries. */
export const deliveriesQuery = t.Object({
  ...pageQuery({ default: 20, maximum: 100 }),
  status: t.Optional(oneOf(deliveryStatuses, { description: 'Only deliveries with this status.' })),
});
