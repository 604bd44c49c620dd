import { writeContent } from '../../../qr/content/content.ts';
import type { Content, ContentType } from '../../../qr/content/schemas.ts';
import type { FieldErrors } from '../parts/use-action.ts';

/** What the user has entered, by the name of the field. */
export type Values = Readonly<Record<string, string>>;

export interface FormField {
  name: string;
  label: string;
  /** Default: a line of text. */
  kind?: 'lines' | 'choice' | 'check' | 'time' | 'zone';
  choices?: readonly (readonly [string, string])[];
  placeholder?: string;
  hint?: string;
  isRequired?: boolean;
  /** Text that is not spell-checked, such as a password. */
  isCode?: boolean;
  isShown?(values: Values): boolean;
}

const securities = [
  ['WPA', 'WPA, WPA2 or WPA3'],
  ['WPA3', 'WPA3 only'],
  ['WEP', 'WEP (old)'],
  ['nopass', 'No password'],
] as const;

const number = { label: 'Phone number', placeholder: '+49 30 901820', isRequired: true, isCode: true } as const;

export const contentNames: readonly (readonly [ContentType, string])[] = [
  ['wifi', 'Wi-Fi'],
  ['vcard', 'Contact'],
  ['text', 'Text'],
  ['email', 'Email'],
  ['phone', 'Phone'],
  ['sms', 'SMS'],
  ['geo', 'Place'],
  ['event', 'Event'],
];

export const forms: Readonly<Record<ContentType, readonly FormField[]>> = {
  wifi: [
    { name: 'ssid', label: 'Network name', placeholder: 'Café guests', isRequired: true, isCode: true },
    { name: 'security', label: 'Security', kind: 'choice', choices: securities },
    {
      name: 'password',
      label: 'Password',
      isRequired: true,
      isCode: true,
      hint: 'Everyone who scans the code can read it.',
      isShown: ({ security }) => security !== 'nopass',
    },
    { name: 'hidden', label: 'The network does not show its name', kind: 'check' },
  ],
  vcard: [
    { name: 'first_name', label: 'First name' },
    { name: 'last_name', label: 'Last name' },
    { name: 'organization', label: 'Company' },
    { name: 'title', label: 'Job title' },
    { name: 'mobile', label: 'Mobile phone', isCode: true },
    { name: 'phone', label: 'Phone at work', isCode: true },
    { name: 'fax', label: 'Fax', isCode: true },
    { name: 'email', label: 'Email address', isCode: true },
    { name: 'website', label: 'Website', placeholder: 'https://example.com', isCode: true },
    { name: 'street', label: 'Street and number' },
    { name: 'postal_code', label: 'Postal code' },
    { name: 'city', label: 'City' },
    { name: 'region', label: 'State or region' },
    { name: 'country', label: 'Country' },
    { name: 'note', label: 'Note', kind: 'lines' },
  ],
  text: [{ name: 'text', label: 'Text', kind: 'lines', isRequired: true }],
  email: [
    { name: 'address', label: 'Email address', placeholder: 'hello@example.com', isRequired: true, isCode: true },
    { name: 'subject', label: 'Subject' },
    { name: 'body', label: 'Message', kind: 'lines' },
  ],
  phone: [{ name: 'number', ...number }],
  sms: [
    { name: 'number', ...number },
    { name: 'message', label: 'Message', kind: 'lines' },
  ],
  geo: [
    { name: 'latitude', label: 'Latitude', placeholder: '52.520008', isRequired: true, isCode: true },
    { name: 'longitude', label: 'Longitude', placeholder: '13.404954', isRequired: true, isCode: true },
  ],
  event: [
    { name: 'title', label: 'Name of the event', placeholder: 'Wine tasting', isRequired: true },
    { name: 'all_day', label: 'Whole days', kind: 'check' },
    { name: 'starts_at', label: 'Begin', kind: 'time', isRequired: true },
    { name: 'ends_at', label: 'End', kind: 'time' },
    { name: 'timezone', label: 'Time zone', kind: 'zone', isShown: ({ all_day }) => all_day !== 'true' },
    { name: 'location', label: 'Place' },
    { name: 'description', label: 'Description', kind: 'lines' },
  ],
};

export const shownFields = (type: ContentType, values: Values) =>
  forms[type].filter(({ isShown }) => isShown === undefined || isShown(values));

/** The content as the API takes it: without empty fields. */
export function contentOf(type: ContentType, values: Values): Content {
  const given = shownFields(type, values)
    .map(({ name }) => [name, values[name] ?? ''] as const)
    .filter(([name, value]) => value !== '' && name !== 'all_day')
    .map(([name, value]) => [name, readValue(name, value)]);
  const required = shownFields(type, values).filter(({ isRequired }) => isRequired);
  const empty = Object.fromEntries(required.map(({ name }) => [name, readValue(name, '')]));
  return { type, ...empty, ...Object.fromEntries(given) };
}

function readValue(name: string, text: string): string | number | boolean {
  if (name === 'latitude' || name === 'longitude')
    return text.trim() === '' ? Number.NaN : Number(text.replace(',', '.'));
  return name === 'hidden' ? text === 'true' : text;
}

/** The text of the code, or the errors of the fields, in the words of the form. */
export function writtenFrom(type: ContentType, values: Values): { text: string } | { errors: FieldErrors } {
  const written = writeContent(contentOf(type, values));
  if ('text' in written) return written;
  const shown = shownFields(type, values);
  const errors = written.problems.map(({ field, problem }) => {
    const { label, isRequired } = shown.find(({ name }) => name === field) ?? { label: field, isRequired: false };
    const isMissing = isRequired && (values[field] ?? '').trim() === '';
    return [field, isMissing ? `Enter the ${label.toLowerCase()}.` : messageOf(field, label, problem)];
  });
  return { errors: Object.fromEntries(errors) };
}

const messageOf = (field: string, label: string, problem: string) =>
  field === 'first_name' && problem.startsWith('is required')
    ? 'Enter a first name, a last name or a company.'
    : `${label} ${problem.replace('starts_at', 'the begin')}.`;
