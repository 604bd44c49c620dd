import { Type as t } from '@sinclair/typebox';
import { pdfLanguages } from '../../../events/languages.ts';
import { oneOf } from '../../../events/one-of.ts';
import { reportFormats } from '../../../events/report.ts';
import { reportIntervals } from '../../../events/report-periods.ts';
import { exact, orNull, time } from '../http/schemas.ts';
import {
  emailsField,
  languageField,
  nameField,
  qrIdsField,
  recipientFields,
  tagsField,
} from '../http/shared-fields.ts';
import { maxShareCodes } from '../shares/schemas.ts';

export const maxRecipients = 20;

const id = t.String({ description: 'Identifier of the report.', examples: ['rpt_0VMNcq2hE3kx0dTtWq8LbY'] });
const name = nameField('Title of the report, 1 to 255 characters.', 'Summer campaign');
const every = oneOf(reportIntervals, {
  description: '`week`: from Monday to Sunday. `month`: a month of the calendar.',
});
const timezone = t.String({
  description:
    'IANA name of the time zone in which days begin and the report is mailed. Default: the time zone of the account.',
  examples: ['Europe/Berlin'],
  'x-expected': 'the IANA name of a time zone, such as Europe/Berlin',
});
const language = languageField(
  `The language of the file and of the mail; the heads of CSV files are in English. Files in PDF have ${pdfLanguages.map((tag) => `\`${tag}\``).join(', ')} only: their fonts lack the letters of the others. Default: en.`,
);
const format = oneOf(reportFormats, { description: 'The file that is attached. Default: pdf.' });
const qrIds = qrIdsField(
  maxShareCodes,
  `The codes that it is about, up to ${maxShareCodes}; a code that is deleted later leaves it.`,
);
const tags = tagsField('It is about all codes with one of these tags, also those that get it later.', 'summer');
const emails = emailsField(
  { minItems: 1, maxItems: maxRecipients },
  `Whom it is mailed to, up to ${maxRecipients} addresses. Each gets a mail of its own, with a link to unsubscribe.`,
);

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
    language,
    qr_ids: orNull(qrIds),
    tags: orNull(tags),
    to: emails,
    ...recipientFields,
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
    language: t.Optional(language),
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
    language: t.Optional(language),
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
    language: t.Optional(language),
    qr_ids: t.Optional(qrIds),
    tags: t.Optional(tags),
  },
  exact,
);
