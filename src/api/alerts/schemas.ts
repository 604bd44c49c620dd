import { Type as t } from '@sinclair/typebox';
import { alertKinds, maxRaised } from '../../../events/alert.ts';
import { oneOf } from '../../../events/one-of.ts';
import { exact, orNull, time } from '../http/schemas.ts';
import {
  emailsField,
  languageField,
  nameField,
  qrIdsField,
  recipientFields,
  tagsField,
} from '../http/shared-fields.ts';

export const maxAlertCodes = 1_000;
export const maxAlertRecipients = 10;
export const defaultPercent = 90;
const minPercent = 50;
const maxPercent = 99;

const id = t.String({ description: 'Identifier of the alert.', examples: ['alr_0VMNcq2hE3kx0dTtWq8LbY'] });
const kind = oneOf(alertKinds, {
  description: [
    'What it watches.',
    '`silent`: a code that is scanned regularly has no scans at all when it usually has some.',
    '`spike`: a code has at least four times as many scans as usual.',
    '`limit_near`: the `max_scans` of a code, a limit of the plan, or the disk of the service is nearly used up.',
    '`destination_down`: a website that a code leads to has failed twice within about an hour.',
    '`domain_failing`: a custom domain no longer passes the checks of its DNS records; needs a live key.',
  ].join('\n- '),
  examples: ['destination_down'],
});
const name = nameField('Name of the alert, 1 to 255 characters. Default: a few words for its kind.', 'Menu links');
const qrIds = qrIdsField(
  maxAlertCodes,
  `The codes that it watches, up to ${maxAlertCodes}; null for no such choice. Without \`qr_ids\` and \`tags\` it watches all codes.`,
);
const tags = tagsField(
  'It watches all codes with one of these tags, also those that get it later; null for no such choice.',
  'menu',
);
const percent = t.Integer({
  minimum: minPercent,
  maximum: maxPercent,
  description: `The share of a limit from which \`limit_near\` warns, ${minPercent} to ${maxPercent}; the other kinds ignore it. Default: ${defaultPercent}.`,
  examples: [defaultPercent],
});
const active = t.Boolean({ description: 'False while the alert is paused. Default: true.' });
const language = languageField(
  'The language of titles and messages: in mails, events, webhooks and the console. What is raised already keeps its own. Default: en.',
);

const emails = emailsField(
  { minItems: 0, maxItems: maxAlertRecipients },
  `Whom it is mailed to, up to ${maxAlertRecipients}; each gets a mail of its own, with a link to unsubscribe. Addresses are not in the log of events. Default: no one.`,
);

export const Alert = t.Object(
  {
    id,
    kind,
    name,
    qr_ids: orNull(qrIds),
    tags: orNull(tags),
    percent,
    active,
    language,
    to: emails,
    ...recipientFields,
    raised: t.Integer({
      description: `How many things it has raised that are not over, at most ${maxRaised}. \`GET /v1/alerts/raised\` lists them.`,
      examples: [1],
    }),
    created_at: time('When it was created.'),
  },
  exact,
);

export const Alerts = t.Object(
  {
    data: t.Array(Alert),
    is_mailed: t.Boolean({
      description: 'Whether this service sends mail: false while its operator has not set SMTP_URL.',
    }),
  },
  exact,
);

export const NewAlert = t.Object(
  {
    kind,
    name: t.Optional(name),
    qr_ids: t.Optional(orNull(qrIds)),
    tags: t.Optional(orNull(tags)),
    percent: t.Optional(percent),
    active: t.Optional(active),
    language: t.Optional(language),
    to: t.Optional(emails),
  },
  { ...exact, examples: [{ kind: 'destination_down', name: 'Menu links', tags: ['menu'] }] },
);

export const AlertChange = t.Object(
  {
    name: t.Optional(name),
    qr_ids: t.Optional(orNull(qrIds)),
    tags: t.Optional(orNull(tags)),
    percent: t.Optional(percent),
    active: t.Optional(active),
    language: t.Optional(language),
    to: t.Optional(emails),
  },
  {
    ...exact,
    minProperties: 1,
    examples: [{ active: false }],
    'x-refused': { kind: 'is fixed after creation; create another alert' },
  },
);

export const RaisedAlert = t.Object(
  {
    alert_id: id,
    kind,
    name,
    qr_id: orNull(
      t.String({ description: 'The code that it is about; null if none.', examples: ['qr_0VMNcq2hE3kx0dTtWq8LbY'] }),
    ),
    domain_id: orNull(
      t.String({ description: 'The domain that it is about; null if none.', examples: ['dom_0VMNcq2hE3kx0dTtWq8LbY'] }),
    ),
    title: t.String({ description: 'What happened, in a few words.', examples: ['The website of “Menu” is down'] }),
    message: t.String({
      description: 'What happened and why it was noticed, as sentences for people.',
      examples: ['“Menu” leads to https://example.com/menu, which has failed twice within about an hour.'],
    }),
    url: t.String({
      description: 'The page of the console that shows more.',
      examples: ['https://qr.example.com/console/codes/qr_0VMNcq2hE3kx0dTtWq8LbY'],
    }),
    raised_at: time('When it was raised.'),
  },
  exact,
);

export const RaisedAlerts = t.Object(
  {
    data: t.Array(RaisedAlert),
    total: t.Integer({ description: 'How many there are, also beyond `limit`.', examples: [1] }),
  },
  exact,
);
