import { Type } from '@sinclair/typebox';
import { type AlertOutcomeEvent, alertKinds, alertSettings } from './alert.ts';
import { oneOf } from './one-of.ts';
import { modes } from './plans.ts';
import { define, exact } from './public-type.ts';
import { withQrIds } from './settings-change.ts';

const { codes: qrIds, ...others } = alertSettings;
const publicSettings = { ...others, qr_ids: qrIds };
const someSettings = Type.Partial(Type.Object(publicSettings, exact), exact);

const identity = {
  alert_id: Type.String({ description: 'Identifier of the alert.', examples: ['alr_0VMNcq2hE3kx0dTtWq8LbY'] }),
  mode: oneOf(modes),
};
const kind = oneOf(alertKinds);
const orNull = (description: string, example: string) =>
  Type.Union([Type.String({ description, examples: [example] }), Type.Null()], { description });

/** What the owner sees of one thing that an alert has found. */
const finding = {
  ...identity,
  kind,
  name: Type.String({ description: 'Name of the alert.', examples: ['Menu links'] }),
  qr_id: orNull('The code that it is about; null if it is about none.', 'qr_0VMNcq2hE3kx0dTtWq8LbY'),
  domain_id: orNull('The domain that it is about; null if it is about none.', 'dom_0VMNcq2hE3kx0dTtWq8LbY'),
  title: Type.String({ description: 'What happened, in a few words.', examples: ['“Menu” is not scanned any more'] }),
  message: Type.String({
    description: 'What happened and why it was noticed, as sentences for people.',
    examples: ['“Menu” has had no scan for 6 hours. In the same hours of the last 8 weeks, it had 21 on average.'],
  }),
  url: Type.String({
    description: 'The page of the console that shows more.',
    examples: ['https://qr.example.com/console/codes/qr_0VMNcq2hE3kx0dTtWq8LbY'],
  }),
};

/** One schema for both types, so that webhooks have one body for them. */
const outcome = Type.Object(
  {
    ...finding,
    raised_at: Type.String({
      format: 'date-time',
      description: 'When it was raised.',
      examples: ['2026-03-01T09:30:00.000Z'],
    }),
  },
  exact,
);

function outcomeOf({ data, occurred_at }: AlertOutcomeEvent & { occurred_at: Date }) {
  const { alert, mode, kind, name, code, domain, title, message, link } = data;
  return {
    alert_id: alert,
    mode,
    kind,
    name,
    qr_id: code,
    domain_id: domain,
    title,
    message,
    url: link,
    raised_at: 'raised_at' in data ? data.raised_at : occurred_at.toISOString(),
  };
}

/** What the owner of an account sees of its alerts. */
export const publicAlertTypes = {
  'alert.created': define({
    summary: 'An alert was created.',
    entries: ['alert_created'],
    data: Type.Object({ ...identity, kind, ...publicSettings }, exact),
    dataOf: ({ data: { alert, codes, ...data } }) => ({ alert_id: alert, qr_ids: codes, ...data }),
  }),
  'alert.updated': define({
    summary: 'Settings of an alert changed; `from` and `to` have only those.',
    entries: ['alert_changed'],
    data: Type.Object({ ...identity, from: someSettings, to: someSettings }, exact),
    dataOf: ({ data: { alert, mode, from, to } }) => ({
      alert_id: alert,
      mode,
      from: withQrIds(from),
      to: withQrIds(to),
    }),
  }),
  'alert.deleted': define({
    summary: 'An alert was deleted; whatever it had raised ended with it.',
    entries: ['alert_removed'],
    data: Type.Object(identity, exact),
    dataOf: ({ data: { alert, mode } }) => ({ alert_id: alert, mode }),
  }),
  'alert.raised': define({
    summary: 'An alert has found something. It is reported once, until `alert.cleared`.',
    entries: ['alert_raised'],
    data: outcome,
    dataOf: outcomeOf,
  }),
  'alert.cleared': define({
    summary: 'What an alert had found is over.',
    entries: ['alert_cleared'],
    data: outcome,
    dataOf: outcomeOf,
  }),
};
