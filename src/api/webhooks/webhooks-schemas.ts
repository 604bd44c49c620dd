import { type Static, type TObject, type TSchema, Type as t } from '@sinclair/typebox';
import { oneOf } from '../../../events/one-of.ts';
import { modes } from '../../../events/plans.ts';
import { publicTypes } from '../../../events/public-types.ts';
import { disabledReasons } from '../../../events/webhooks/webhook.ts';
import { type WebhookEventType, webhookEventTypes } from '../../../events/webhooks/webhook-events.ts';
import type { WebhookBody } from '../../webhooks/body.ts';
import { replayChoices } from '../../webhooks/replay-selection.ts';
import { replayStatuses } from '../../webhooks/replays.ts';
import { exact, time } from '../http/schemas.ts';
import { Delivery, ScanEvent, secretFields, timeOrNull, WebhookTest } from './webhook-schemas.ts';

/** Schemas of the webhooks of `/v1/webhooks`, and of their replays. */

export const maxFilteredCodes = 100;
export const maxFilteredTags = 20;

const webhookId = t.String({ description: 'Identifier of the webhook.', examples: ['wh_0VMNcq2hE3kx0dTtWq8LbY'] });
const eventType = oneOf(webhookEventTypes, { examples: ['scan.created'] });
const typeList = webhookEventTypes.map((type) => `\`${type}\``).join(', ');
const list = (item: TSchema, maxItems: number, options: object) =>
  t.Union([t.Array(item as ReturnType<typeof t.String>, { minItems: 0, maxItems }), t.Null()], options);

const settings = {
  url: t.String({
    description: 'URL that events are POSTed to: https, at most 2,048 characters, without user name and password.',
    examples: ['https://example.com/hooks/events'],
    'x-expected': 'an https URL',
  }),
  events: t.Array(eventType, {
    minItems: 1,
    maxItems: webhookEventTypes.length,
    description: `Types of events to send: ${typeList}. Default: all of these. Types that are added later are never sent without being listed here.`,
    examples: [['scan.created', 'code.updated']],
    'x-expected': `an array of one or more of ${webhookEventTypes.join(', ')}`,
  }),
  qr_ids: list(t.String({ examples: ['qr_0VMNcq2hE3kx0dTtWq8LbY'] }), maxFilteredCodes, {
    description: `Only events of these codes, at most ${maxFilteredCodes}; null for all codes. With \`tags\`, a code must pass both.`,
    examples: [null],
    'x-expected': `an array of up to ${maxFilteredCodes} identifiers of codes, or null`,
  }),
  tags: list(t.String({ examples: ['summer'] }), maxFilteredTags, {
    description: `Only events of codes with any of these tags, at most ${maxFilteredTags}; null for all codes. What counts are the tags that the code has after the event, whatever it has by the time of the delivery.`,
    examples: [['summer']],
    'x-expected': `an array of up to ${maxFilteredTags} tags, or null`,
  }),
  description: t.String({
    maxLength: 255,
    description: 'For your own use, at most 255 characters.',
    examples: ['Scans to the data warehouse'],
    'x-expected': 'a string of at most 255 characters',
  }),
  active: t.Boolean({
    description:
      'Whether events are sent: `false` pauses the webhook, `true` resumes it, also after the service has disabled it.',
  }),
};

const { url, ...optional } = settings;

export const NewSubscription = t.Object(
  { url, ...t.Partial(t.Object(optional)).properties },
  {
    ...exact,
    examples: [
      { url: 'https://example.com/hooks/events', events: ['scan.created', 'code.updated'], tags: ['summer'] },
      { url: 'https://example.com/hooks/all' },
    ],
  },
);

const fixed = 'cannot be changed; POST …/rotate replaces the secret';
export const SubscriptionChange = t.Partial(t.Object(settings, exact), {
  ...exact,
  minProperties: 1,
  examples: [{ active: false }],
  'x-refused': { secret: fixed, id: 'cannot be changed', mode: 'cannot be changed' },
});

export const Subscription = t.Object(
  {
    id: webhookId,
    ...settings,
    url: t.String({ format: 'iri', examples: ['https://example.com/hooks/events'] }),
    mode: oneOf(modes, { description: 'Mode of the API key that created it.' }),
    account_webhook: t.Boolean({
      description:
        'Whether it is the webhook of `/v1/account/webhook`. That one gets scans only, with the body `{event, timestamp, data}`; here its `url` can be changed.',
      examples: [false],
    }),
    status: oneOf(['enabled', 'paused', 'disabled'], {
      description: '`paused` by you, `disabled` by the service. No events are sent unless it is `enabled`.',
    }),
    disabled_reason: t.Union([oneOf(disabledReasons), t.Null()], {
      description:
        '`gone`: the receiver answered 410. `failing`: every delivery failed for 5 days. null unless the service has disabled it.',
      examples: [null],
    }),
    status_since: time('When the status last changed.'),
    ...secretFields,
    created_at: time('When the webhook was created.'),
    updated_at: time('When its settings last changed.'),
  },
  exact,
);

export const DeletedSubscription = t.Object({ deleted: t.Literal(true), id: webhookId }, exact);

const qrName = t.Optional(
  t.String({ description: 'Name of the code when the request is sent.', examples: ['Spring menu'] }),
);

/** One schema for all types with the same data. */
const byData = Map.groupBy(webhookEventTypes, (type) => publicTypes[type].data as TObject);
const bodyOfTypes = (types: WebhookEventType[], data: TObject) =>
  t.Object(
    {
      type: oneOf(types),
      timestamp: time('When it happened.'),
      data: t.Object({ ...data.properties, qr_name: qrName }, exact),
    },
    { ...exact, description: 'The body that is POSTed.' },
  );

/** The names of the bodies, by the part of a type before the point. */
const bodyNames: Record<string, { schemaName: string; summary: string }> = {
  scan: { schemaName: 'ScanWebhookEvent', summary: 'A code was scanned' },
  code: { schemaName: 'CodeWebhookEvent', summary: 'A code was created, changed or deleted' },
  alert: { schemaName: 'AlertWebhookEvent', summary: 'An alert has found something, or it is over' },
};

/** The bodies of all types, with the names of their schemas. */
export const eventBodies = [...byData].map(([data, types]) => {
  const named = bodyNames[types[0]?.split('.')[0] ?? ''];
  if (named === undefined) throw new Error(`The body of ${types.join(', ')} has no name`);
  return { ...named, schema: bodyOfTypes(types, data) };
});

const AnyBody = t.Union([...eventBodies.map(({ schema }): TSchema => schema), ScanEvent]) as TSchema & {
  static: WebhookBody;
};

/** Deliveries of the webhook of `/v1/account/webhook` have its body here, too. */
export const SubscriptionDelivery = t.Object({ ...Delivery.properties, body: AnyBody }, exact);
export const SubscriptionTest = t.Object({ ...WebhookTest.properties, body: AnyBody }, exact);

const timestampOrDay = (description: string, example: string) =>
  t.String({ description, examples: [example], 'x-expected': 'an ISO 8601 timestamp or a date' });

export const NewReplay = t.Object(
  {
    from: timestampOrDay(
      'Events since this time: a timestamp with its offset from UTC, or a date, which begins at 00:00 UTC.',
      '2026-03-01T09:00:00Z',
    ),
    to: t.Optional(
      timestampOrDay(
        'Events before this time; a date is included in full. Default: now, which is also the latest possible time.',
        '2026-03-01T17:00:00Z',
      ),
    ),
    only: oneOf(replayChoices, {
      description:
        '`missing`: events for which no delivery was made, since the webhook did not exist yet, was paused or disabled, or did not let them through then. `failed`: events whose delivery failed, which are kept for 30 days. `all`: every event, unless its delivery is still pending.',
    }),
  },
  { ...exact, examples: [{ from: '2026-03-01T09:00:00Z', to: '2026-03-01T17:00:00Z', only: 'missing' }] },
);

const number = (description: string, example: number) => t.Integer({ description, examples: [example] });

export const Replay = t.Object(
  {
    id: t.String({ description: 'Identifier of the replay.', examples: ['whr_0VMNcq2hE3kx0dTtWq8LbY'] }),
    webhook_id: webhookId,
    status: oneOf(replayStatuses, {
      description:
        '`running`; `done`: every event was sent once, and failed ones are retried like any delivery; `canceled` by you; `stopped`: the webhook was paused, disabled or removed.',
      examples: ['running'],
    }),
    only: oneOf(replayChoices),
    from: time('Events since this time.'),
    to: time('Events before this time.'),
    total: t.Union([t.Integer(), t.Null()], {
      description: 'Number of events to send; null while a large log is still being counted.',
      examples: [1840],
    }),
    sent: number('Events that were sent at least once: `delivered` and `failed` together.', 1200),
    delivered: number('Events that the receiver accepted.', 1198),
    failed: number('Events whose first attempt failed; they are retried like any delivery.', 2),
    created_at: time('When the replay was started.'),
    ended_at: timeOrNull('When the replay ended; null while it is running.'),
  },
  exact,
);

export type ReplayResponse = Static<typeof Replay>;
