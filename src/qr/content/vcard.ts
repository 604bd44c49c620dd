import { dialable, emailProblem, isEmail, phoneProblem, problemWithLine, problemWithLines } from './characters.ts';
import { escapeText, foldLines } from './lines.ts';
import type { ContentOf, ContentProblem } from './schemas.ts';

type VCard = ContentOf<'vcard'>;

export function problemsWithVcard({ type: _, ...card }: VCard): ContentProblem[] {
  const { first_name = '', last_name = '', organization = '' } = card;
  if (`${first_name}${last_name}${organization}`.trim() === '')
    return [{ field: 'first_name', problem: 'is required, or last_name or organization' }];
  return Object.entries(card).flatMap(([field, value]) => {
    const problem = value === '' ? undefined : problemWithField(field, value);
    return problem === undefined ? [] : [{ field, problem }];
  });
}

function problemWithField(field: string, value: string): string | undefined {
  switch (field) {
    case 'note':
      return problemWithLines(value);
    case 'phone':
    case 'mobile':
    case 'fax':
      return dialable(value) === undefined ? phoneProblem : undefined;
    case 'email':
      return isEmail(value) ? undefined : emailProblem;
    case 'website':
      return /^https?:\/\/\S+$/i.test(value) && URL.canParse(value) && problemWithLine(value) === undefined
        ? undefined
        : 'must be an absolute URL that begins with http:// or https://';
    default:
      return problemWithLine(value);
  }
}

/** Version 3.0: every phone reads it, and unlike 2.1 it is UTF-8. */
export function writeVcard(card: VCard): string {
  const { first_name = '', last_name = '', organization = '' } = card;
  const name = [first_name, last_name].filter((part) => part !== '').join(' ');
  const address = ['', '', card.street, card.city, card.region, card.postal_code, card.country].map(
    (part = '') => part,
  );
  const phoneLine = (kind: string, number = '') => line(`TEL;TYPE=${kind}`, dialable(number));
  return foldLines([
    'BEGIN:VCARD',
    'VERSION:3.0',
    `N:${[last_name, first_name, '', '', ''].map(escapeText).join(';')}`,
    `FN:${escapeText(name === '' ? organization : name)}`,
    ...line('ORG', escapeText(organization)),
    ...line('TITLE', escapeText(card.title ?? '')),
    ...phoneLine('WORK,VOICE', card.phone),
    ...phoneLine('CELL', card.mobile),
    ...phoneLine('WORK,FAX', card.fax),
    ...line('EMAIL', card.email),
    ...line('ADR;TYPE=WORK', address.every((part) => part === '') ? '' : address.map(escapeText).join(';')),
    // A URI is no text: its commas and semicolons stay.
    ...line('URL', card.website),
    ...line('NOTE', escapeText(card.note ?? '')),
    'END:VCARD',
  ]);
}

const line = (property: string, value = '') => (value === '' ? [] : [`${property}:${value}`]);
