import { Type as t } from '@sinclair/typebox';
import { oneOf } from '../../events/one-of.ts';
import { modes } from '../../events/plans.ts';
import { disabledReasons } from '../../events/webhook.ts';
import { deliveryStatuses } from '../webhooks/deliveries.ts';

/** Shapes of webhooks and their deliveries. */

const exact = { additionalProperties: false } as const;
const example = '2026-03-01T09:30:00.000Z';
const time = (description: string) => t.String({ format: 'date-time', description, examples: [example] });
const timeOrNull = (description: string, examples: (string | null)[] = [null]) =>
  t.Union([t.String({ format: 'date-time' }), t.Null()], { description, examples });

export const NewWebhook = t.Object(
  {
    url: t.String({
      description: 'Where scans are POSTed to: https, at most 2,048 characters, no user name or password in it.',
      'x-expected': 'an https URL',
    }),
  },
  { ...exact, examples: [{ url: 'https://example.com/hooks/scans' }] },
);

export const Webhook = t.Object(
  {
    url: t.String({ format: 'uri', examples: ['https://example.com/hooks/scans'] }),
    mode: oneOf(modes, { description: 'Mode of the key that asks: each has a webhook of its own.' }),
    status: oneOf(['enabled', 'disabled'], { description: 'Whether scans are sent.' }),
    disabled_reason: t.Union([oneOf(disabledReasons), t.Null()], {
      description:
        '`gone`: the receiver answered 410. `failing`: for 5 days nothing but failures came back. null while it is enabled.',
      examples: [null],
    }),
    status_since: time('Since when it has this status.'),
    failing_since: timeOrNull('Since when nothing but failures came back; null when the last attempt succeeded.'),
    secret: t.String({
      description: 'What deliveries are signed with.',
      examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    }),
    old_secret_valid_until: timeOrNull(
      'Until when the secret before the last rotation signs too; null when there is none.',
    ),
    created_at: time('When the webhook was first set.'),
  },
  exact,
);

export const DeletedWebhook = t.Object({ deleted: t.Literal(true), mode: oneOf(modes) }, exact);

const duration = t.Integer({ description: 'How long it took, in milliseconds.', examples: [48] });
const statusCode = t.Union([t.Integer(), t.Null()], {
  description: 'HTTP status of the answer; null when none came.',
  examples: [200],
});
const response = t.Union([t.String(), t.Null()], {
  description: 'The first 1,024 bytes of the answer’s body; null when none came.',
  examples: ['ok'],
});
const failure = t.Union([t.String(), t.Null()], {
  description: 'What went wrong, in words; null for a success.',
  examples: [null],
});

const ScanEvent = t.Object(
  {
    event: oneOf(['scan.created']),
    timestamp: time('When the scan happened.'),
    data: t.Object(
      {
        qr_id: t.String({ examples: ['qr_0VMNcq2hE3kx0dTtWq8LbY'] }),
        scan_id: t.String({ examples: ['scan_0VMOcq2hE3kx0dTtWq8LbY'] }),
        country: t.String({ examples: ['DE'] }),
        city: t.String({ examples: ['Berlin'] }),
        device: t.String({ examples: ['ios'] }),
        is_unique: t.Boolean(),
      },
      exact,
    ),
  },
  { ...exact, description: 'The body that is POSTed.' },
);

export const WebhookTest = t.Object(
  {
    delivered: t.Boolean({ description: 'Whether the receiver answered with 2xx in time.' }),
    webhook_id: t.String({
      description: 'The `webhook-id` that was sent; it is in no list.',
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
    timestamp: time('When it began.'),
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
    created_at: time('When it came to be sent.'),
    next_attempt_at: timeOrNull('When it will be tried (again); null once it is delivered or has failed.'),
    error: t.Union([t.String(), t.Null()], {
      description: 'Why it is not delivered, in words; null while nothing went wrong.',
      examples: [null],
    }),
    attempts: t.Array(Attempt, { description: 'Oldest first; the last 30.' }),
  },
  exact,
);
