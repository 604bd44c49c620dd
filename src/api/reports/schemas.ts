import { Type as t } from '@sinclair/typebox';
import { oneOf } from '../../../events/one-of.ts';
import { reportFormats } from '../../../events/report.ts';
import { reportIntervals } from '../../../events/report-periods.ts';
import { exact, orNull, time } from '../http/schemas.ts';
import { maxShareCodes, maxShareTags } from '../shares/schemas.ts';

export const maxRecipients = 20;

const id = t.String({ description: 'Identifier of the report.', examples: ['rpt_0VMNcq2hE3kx0dTtWq8LbY'] });
const name = t.String({
  description: 'Title of the report, 1 to 255 characters.',
  examples: ['Summer campaign'],
  'x-expected': 'a string of 1 to 255 characters',
});
const every = oneOf(reportIntervals, {
  description: '`week`: from Monday to Sunday. `month`: a month of the calendar.',
});
const timezone = t.String({
  description:
    'IANA name of the time zone in which days begin and the report is mailed. Default: the time zone of the account.',
  examples: ['Europe/Berlin'],
  'x-expected': 'the IANA name of a time zone, such as Europe/Berlin',
});
const format = oneOf(reportFormats, { description: 'The file that is attached. Default: pdf.' });
const qrIds = t.Array(t.String(), {
  minItems: 1,
  maxItems: maxShareCodes,
  description: `The codes that it is about, up to ${maxShareCodes}; a code that is deleted later leaves it.`,
  examples: [['qr_0VMNcq2hE3kx0dTtWq8LbY']],
});
const tags = t.Array(t.String({ minLength: 1, maxLength: 255, pattern: '^[^\\u0000]*$', 'x-expected': 'a tag' }), {
  minItems: 1,
  maxItems: maxShareTags,
  description: 'It is about all codes with one of these tags, also those that get it later.',
  examples: [['summer']],
});
const emails = t.Array(t.String({ maxLength: 254, 'x-expected': 'an e-mail address' }), {
  minItems: 1,
  maxItems: maxRecipients,
  description: `Whom it is mailed to, up to ${maxRecipients} addresses. Each gets a mail of its own, with a link to unsubscribe.`,
  examples: [['ada@example.com']],
});

const isMailed = t.Boolean({
  description: 'Whether this service sends mail: false while its operator has not set SMTP_URL.',
});

export const Report = t.Object(
  {
    id,
    name,
    every,
    timezone,
    format,
    qr_ids: orNull(qrIds),
    tags: orNull(tags),
    to: emails,
    unsubscribed: t.Array(t.String(), {
      examples: [[]],
      description:
        'Recipients in `to` who have unsubscribed. They get no mail until they subscribe again by their own link.',
    }),
    undelivered: t.Array(
      t.Object(
        {
          email: t.String({ description: 'The address.', examples: ['gone@example.com'] }),
          message: t.String({ description: 'What the mail server answered.', examples: ['550 no such user'] }),
          at: time('When.'),
        },
        exact,
      ),
      { description: 'Addresses whose last mail did not arrive.' },
    ),
    is_mailed: isMailed,
    next_at: orNull(
      time('When the next one is mailed, at 6 in the morning of `timezone` on the day after its period.'),
    ),
    last_at: orNull(time('When the last one was queued for mailing.')),
    created_at: time('When it was created.'),
  },
  exact,
);

export const Reports = t.Object({ data: t.Array(Report), is_mailed: isMailed }, exact);

export const NewReport = t.Object(
  {
    name,
    every,
    timezone: t.Optional(timezone),
    format: t.Optional(format),
    qr_ids: t.Optional(qrIds),
    tags: t.Optional(tags),
    to: emails,
  },
  {
    ...exact,
    examples: [
      { name: 'Summer campaign', every: 'month', timezone: 'Europe/Berlin', tags: ['summer'], to: ['ada@example.com'] },
    ],
  },
);

export const ReportChange = t.Object(
  {
    name: t.Optional(name),
    every: t.Optional(every),
    timezone: t.Optional(timezone),
    format: t.Optional(format),
    qr_ids: t.Optional(qrIds),
    tags: t.Optional(tags),
    to: t.Optional(emails),
  },
  { ...exact, minProperties: 1, examples: [{ to: ['ada@example.com', 'grace@example.com'] }] },
);

/** Query parameters of the preview. */
export const PreviewQuery = t.Object(
  {
    name: t.Optional(name),
    every: t.Optional(every),
    timezone: t.Optional(timezone),
    qr_ids: t.Optional(qrIds),
    tags: t.Optional(tags),
  },
  exact,
);
