import { dialable, emailProblem, isEmail, phoneProblem, problemWithLine, problemWithLines } from './characters.ts';
import type { ContentOf, ContentProblem } from './schemas.ts';

const listed = (problems: Record<string, string | undefined>): ContentProblem[] =>
  Object.entries(problems).flatMap(([field, problem]) => (problem === undefined ? [] : [{ field, problem }]));

const problemWithNumber = (number: string) => (dialable(number) === undefined ? phoneProblem : undefined);

export const problemsWithText = ({ text }: ContentOf<'text'>): ContentProblem[] =>
  listed({ text: text === '' ? 'must not be empty' : problemWithLines(text) });

export const problemsWithEmail = ({ address, subject = '', body = '' }: ContentOf<'email'>): ContentProblem[] =>
  listed({
    address: isEmail(address) ? undefined : emailProblem,
    subject: problemWithLine(subject),
    body: problemWithLines(body),
  });

export const problemsWithPhone = ({ number }: ContentOf<'phone'>): ContentProblem[] =>
  listed({ number: problemWithNumber(number) });

export const problemsWithSms = ({ number, message = '' }: ContentOf<'sms'>): ContentProblem[] =>
  listed({ number: problemWithNumber(number), message: problemWithLines(message) });

export const problemsWithGeo = ({ latitude, longitude }: ContentOf<'geo'>): ContentProblem[] =>
  listed({ latitude: problemWithDegrees(latitude, 90), longitude: problemWithDegrees(longitude, 180) });

const problemWithDegrees = (value: number, max: number) =>
  Math.abs(value) <= max ? undefined : `must be a number from -${max} to ${max}`;

/** RFC 6068: everything but the @ is percent-encoded, a line break as CRLF. */
export function writeEmail({ address, subject = '', body = '' }: ContentOf<'email'>): string {
  const fields = Object.entries({ subject, body })
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}=${encodeURIComponent(value.replaceAll(/\r\n|\r|\n/g, '\r\n'))}`);
  const recipient = encodeURIComponent(address).replaceAll('%40', '@').replaceAll('%2B', '+');
  return `mailto:${recipient}${fields.length === 0 ? '' : `?${fields.join('&')}`}`;
}

export const writePhone = ({ number }: ContentOf<'phone'>): string =>
  `tel:${(dialable(number) ?? '').replaceAll('#', '%23')}`;

/** `SMSTO:`, whose message both iOS and Android take; of `sms:` they take the message in different ways. */
export const writeSms = ({ number, message = '' }: ContentOf<'sms'>): string =>
  `SMSTO:${dialable(number) ?? ''}:${message}`;

/** RFC 5870. Six decimals are 11 cm. */
export const writeGeo = ({ latitude, longitude }: ContentOf<'geo'>): string =>
  `geo:${degrees(latitude)},${degrees(longitude)}`;

const degrees = (value: number) => {
  const text = value.toFixed(6).replace(/\.?0+$/, '');
  return text === '-0' ? '0' : text;
};
