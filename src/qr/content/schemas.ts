import { type Static, Type as t } from '@sinclair/typebox';
import { oneOf } from '../../../events/one-of.ts';

/** What a static code can contain. A field that is left out, or empty, is not written. */

const exact = { additionalProperties: false } as const;
const text = (description: string, example: string) =>
  t.String({ description, examples: [example], 'x-expected': 'a text' });
const optional = (description: string, example: string) => t.Optional(text(description, example));
const kind = <T extends string>(type: T) => oneOf([type], { description: 'What the code contains.' });

export const wifiSecurities = ['WPA', 'WPA2', 'WPA3', 'WEP', 'nopass'] as const;

const phone = 'Digits with an optional + before them; spaces, dots, slashes, hyphens and parentheses are left out.';
const eventTime =
  '`2026-06-01T19:00` with `timezone`, `2026-06-01T19:00:00+02:00` or `…Z` without, or `2026-06-01` for whole days.';

export const contentSchemas = {
  wifi: t.Object(
    {
      type: kind('wifi'),
      ssid: text('Name of the network, 1 to 32 bytes.', 'Café guests'),
      security: t.Optional(
        oneOf(wifiSecurities, {
          description: 'Default: WPA with a password, nopass without. WPA and WPA2 are written the same.',
        }),
      ),
      password: optional(
        'WPA: 8 to 63 bytes, or the key in 64 hexadecimal digits. WEP: 5, 13 or 16 characters, or 10, 26 or 32 hexadecimal digits. nopass: none.',
        'espresso; macchiato',
      ),
      hidden: t.Optional(t.Boolean({ description: 'Whether the network does not send its name. Default: false.' })),
    },
    exact,
  ),
  vcard: t.Object(
    {
      type: kind('vcard'),
      first_name: optional('Given name. One of `first_name`, `last_name` and `organization` is required.', 'Zoë'),
      last_name: optional('Family name.', 'Muñoz'),
      organization: optional('Company.', 'Muñoz & Sons'),
      title: optional('Job title.', 'Baker'),
      phone: optional(`Phone at work. ${phone}`, '+49 30 901820'),
      mobile: optional(`Mobile phone. ${phone}`, '+49 171 1234567'),
      fax: optional(`Fax. ${phone}`, '+49 30 901821'),
      email: optional('E-mail address.', 'zoe@example.com'),
      website: optional('An http or https URL.', 'https://example.com'),
      street: optional('Street and number.', 'Marktplatz 1'),
      city: optional('City.', 'Berlin'),
      region: optional('State or region.', 'Berlin'),
      postal_code: optional('Postal code.', '10178'),
      country: optional('Country.', 'Germany'),
      note: optional('Text of one or more lines.', 'Open from 6 to 18'),
    },
    exact,
  ),
  text: t.Object({ type: kind('text'), text: text('Any text, also of several lines.', 'Table 12') }, exact),
  email: t.Object(
    {
      type: kind('email'),
      address: text('E-mail address of the recipient.', 'hello@example.com'),
      subject: optional('Subject.', 'Table for two?'),
      body: optional('Text of the message, also of several lines.', 'On Friday at 8.'),
    },
    exact,
  ),
  phone: t.Object({ type: kind('phone'), number: text(phone, '+49 30 901820') }, exact),
  sms: t.Object(
    { type: kind('sms'), number: text(phone, '+49 171 1234567'), message: optional('Text of the message.', 'JOIN') },
    exact,
  ),
  geo: t.Object(
    {
      type: kind('geo'),
      latitude: t.Number({ minimum: -90, maximum: 90, description: 'Degrees north.', examples: [52.520008] }),
      longitude: t.Number({ minimum: -180, maximum: 180, description: 'Degrees east.', examples: [13.404954] }),
    },
    exact,
  ),
  event: t.Object(
    {
      type: kind('event'),
      title: text('Name of the event.', 'Wine tasting'),
      starts_at: text(`Begin: ${eventTime}`, '2026-06-01T19:00'),
      ends_at: optional('End, written like the begin. Of whole days the last one.', '2026-06-01T22:00'),
      timezone: optional('IANA name of the time zone of times without an offset.', 'Europe/Berlin'),
      location: optional('Place.', 'Marktplatz 1, Berlin'),
      description: optional('Text of one or more lines.', 'Bring a friend'),
    },
    exact,
  ),
} as const;

export type ContentType = keyof typeof contentSchemas;
export type ContentOf<T extends ContentType> = Static<(typeof contentSchemas)[T]>;
export type Content = { [T in ContentType]: ContentOf<T> }[ContentType];

/** What is wrong with a field of a content: "must …". */
export interface ContentProblem {
  field: string;
  problem: string;
}
