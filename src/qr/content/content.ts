import { problemsWithEvent, writeEvent } from './calendar.ts';
import {
  problemsWithEmail,
  problemsWithGeo,
  problemsWithPhone,
  problemsWithSms,
  problemsWithText,
  writeEmail,
  writeGeo,
  writePhone,
  writeSms,
} from './links.ts';
import type { Content, ContentOf, ContentProblem, ContentType } from './schemas.ts';
import { problemsWithVcard, writeVcard } from './vcard.ts';
import { problemsWithWifi, writeWifi } from './wifi.ts';

interface Writer<T extends ContentType> {
  /** Says what the code contains without saying what is in it, for people who hear the image described. */
  title: string;
  problems(content: ContentOf<T>): ContentProblem[];
  write(content: ContentOf<T>): string;
}

const writers: { [T in ContentType]: Writer<T> } = {
  wifi: { title: 'QR code with the access to a Wi-Fi network', problems: problemsWithWifi, write: writeWifi },
  vcard: { title: 'QR code with a contact', problems: problemsWithVcard, write: writeVcard },
  text: { title: 'QR code with a text', problems: problemsWithText, write: ({ text }) => text },
  email: { title: 'QR code that writes an e-mail', problems: problemsWithEmail, write: writeEmail },
  phone: { title: 'QR code that calls a phone number', problems: problemsWithPhone, write: writePhone },
  sms: { title: 'QR code that writes a text message', problems: problemsWithSms, write: writeSms },
  geo: { title: 'QR code with a place', problems: problemsWithGeo, write: writeGeo },
  event: { title: 'QR code with an event', problems: problemsWithEvent, write: writeEvent },
};

export type Written = { text: string } | { problems: ContentProblem[] };

/** The text of a code that phones understand, or every problem of the content. */
export function writeContent<T extends ContentType>(content: ContentOf<T> & { type: T }): Written {
  const writer: Writer<T> = writers[content.type];
  const problems = writer.problems(content);
  return problems.length > 0 ? { problems } : { text: writer.write(content) };
}

export const titleOf = ({ type }: Pick<Content, 'type'>): string => writers[type].title;
