import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { byteLength } from '../../../src/qr/capacity.ts';
import { writeContent } from '../../../src/qr/content/content.ts';
import { foldLines } from '../../../src/qr/content/lines.ts';
import type { Content } from '../../../src/qr/content/schemas.ts';

const textOf = (content: Content) => {
  const written = writeContent(content);
  if ('problems' in written) throw new Error(JSON.stringify(written.problems));
  return written.text;
};
const problemsOf = (content: Content) => {
  const written = writeContent(content);
  return 'problems' in written
    ? Object.fromEntries(written.problems.map(({ field, problem }) => [field, problem]))
    : {};
};

describe('a Wi-Fi network', () => {
  test('is written by the convention of ZXing', () => {
    const wifi = (fields: object) => textOf({ type: 'wifi', ssid: 'Café', ...fields });
    expect(wifi({})).toBe('WIFI:T:nopass;S:Café;;');
    expect(wifi({ password: 'espresso' })).toBe('WIFI:T:WPA;S:Café;P:espresso;;');
    expect(wifi({ password: 'espresso', security: 'WPA2', hidden: true })).toBe(
      'WIFI:T:WPA;S:Café;P:espresso;H:true;;',
    );
    expect(wifi({ password: 'espresso', security: 'WPA3' })).toBe('WIFI:T:WPA;R:1;S:Café;P:espresso;;');
    expect(wifi({ password: 'a;b,c:d"e\\f' })).toBe('WIFI:T:WPA;S:Café;P:a\\;b\\,c\\:d\\"e\\\\f;;');
    // A password and a name that could be bytes in hexadecimal digits; a key that is.
    expect(wifi({ ssid: 'BEEF', password: '12345678' })).toBe('WIFI:T:WPA;S:"BEEF";P:"12345678";;');
    expect(wifi({ password: 'a'.repeat(64) })).toBe(`WIFI:T:WPA;S:Café;P:${'a'.repeat(64)};;`);
    expect(wifi({ password: 'abcde', security: 'WEP' })).toBe('WIFI:T:WEP;S:Café;P:"abcde";;');
    expect(wifi({ password: '0123456789', security: 'WEP' })).toBe('WIFI:T:WEP;S:Café;P:0123456789;;');
  });

  test('is refused with what would be right', () => {
    const problems = (fields: object) => problemsOf({ type: 'wifi', ssid: 'Café', ...fields });
    expect(problems({ ssid: 'é'.repeat(17) })).toEqual({ ssid: 'must have 1 to 32 bytes, and has 34' });
    expect(problems({ ssid: '' })).toEqual({ ssid: 'must have 1 to 32 bytes, and has 0' });
    expect(problems({ ssid: 'a\nb' })).toEqual({ ssid: 'must not contain line breaks or control characters' });
    expect(problems({ password: 'short' })['password']).toContain('must have 8 to 63 bytes');
    expect(problems({ security: 'WPA2' })['password']).toContain('for WPA2, and has 0');
    expect(problems({ security: 'nopass', password: 'espresso' })['password']).toContain('must be left out');
    expect(problems({ security: 'WEP', password: 'abcdef' })['password']).toContain('5, 13 or 16 characters');
  });
});

describe('a contact', () => {
  test('is a vCard 3.0, with escaped values and folded lines', () => {
    const text = textOf({
      type: 'vcard',
      first_name: 'Zoë',
      last_name: 'Muñoz; Ruiz',
      organization: 'Muñoz, Söhne & Co',
      title: 'Baker\\Chef',
      phone: '+49 (30) 90-18 20',
      mobile: '0171.1234567',
      email: 'zoe@example.com',
      website: 'https://example.com/?a=1,2;b',
      street: 'Marktplatz 1, 2. OG',
      city: 'Berlin',
      postal_code: '10178',
      note: `First line\r\nsecond line\n${'ü'.repeat(60)}`,
    });
    const lines = text.split('\r\n');
    expect(lines.at(-1)).toBe('');
    expect(lines.every((line) => byteLength(line) <= 75)).toBe(true);
    expect(text.replaceAll('\r\n ', '').split('\r\n')).toEqual([
      'BEGIN:VCARD',
      'VERSION:3.0',
      'N:Muñoz\\; Ruiz;Zoë;;;',
      'FN:Zoë Muñoz\\; Ruiz',
      'ORG:Muñoz\\, Söhne & Co',
      'TITLE:Baker\\\\Chef',
      'TEL;TYPE=WORK,VOICE:+4930901820',
      'TEL;TYPE=CELL:01711234567',
      'EMAIL:zoe@example.com',
      'ADR;TYPE=WORK:;;Marktplatz 1\\, 2. OG;Berlin;;10178;',
      'URL:https://example.com/?a=1,2;b',
      `NOTE:First line\\nsecond line\\n${'ü'.repeat(60)}`,
      'END:VCARD',
      '',
    ]);
  });

  test('of a company has its name, and needs one name', () => {
    expect(textOf({ type: 'vcard', organization: 'Café' })).toContain('N:;;;;\r\nFN:Café\r\nORG:Café\r\n');
    expect(problemsOf({ type: 'vcard', phone: '+4930' })).toEqual({
      first_name: 'is required, or last_name or organization',
    });
    const wrong = { phone: 'call me', email: 'nobody', website: 'example.com', city: 'a\nb' };
    expect(Object.keys(problemsOf({ type: 'vcard', first_name: 'Zoë', ...wrong }))).toEqual(Object.keys(wrong));
  });

  test('keeps every text when its lines are unfolded', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const folded = foldLines([text]);
        expect(folded.split('\r\n').every((line) => byteLength(line) <= 75)).toBe(true);
        expect(folded.replaceAll('\r\n ', '')).toBe(`${text}\r\n`);
      }),
    );
  });
});

describe('a link', () => {
  test('is written by its standard', () => {
    expect(textOf({ type: 'email', address: 'a+b@example.com' })).toBe('mailto:a+b@example.com');
    expect(textOf({ type: 'email', address: 'ü@example.com', subject: 'Tisch & Bar?', body: 'Grüße\n100 %' })).toBe(
      'mailto:%C3%BC@example.com?subject=Tisch%20%26%20Bar%3F&body=Gr%C3%BC%C3%9Fe%0D%0A100%20%25',
    );
    expect(textOf({ type: 'phone', number: '+49 30 / 90 18-20' })).toBe('tel:+4930901820');
    expect(textOf({ type: 'phone', number: '*21#' })).toBe('tel:*21%23');
    expect(textOf({ type: 'sms', number: '+49 171 1', message: 'JOIN: yes' })).toBe('SMSTO:+491711:JOIN: yes');
    expect(textOf({ type: 'geo', latitude: 52.5200081, longitude: -13 })).toBe('geo:52.520008,-13');
    expect(textOf({ type: 'geo', latitude: -0.0000001, longitude: 100 })).toBe('geo:0,100');
    expect(textOf({ type: 'text', text: 'Table 12\n“Süd”' })).toBe('Table 12\n“Süd”');
  });

  test('is refused if phones would not understand it', () => {
    expect(problemsOf({ type: 'email', address: 'a@b@c' })).toHaveProperty('address');
    expect(problemsOf({ type: 'email', address: 'a@b.c', subject: 'a\nb' })).toHaveProperty('subject');
    expect(problemsOf({ type: 'phone', number: '+49 30 CALL' })).toHaveProperty('number');
    expect(problemsOf({ type: 'sms', number: '1' })).toHaveProperty('number');
    expect(problemsOf({ type: 'text', text: '' })).toEqual({ text: 'must not be empty' });
    expect(problemsOf({ type: 'text', text: 'a\u0000' })).toHaveProperty('text');
    expect(problemsOf({ type: 'text', text: '\ud800' })).toHaveProperty('text');
  });
});

describe('an event', () => {
  const event = (fields: object): Content => ({ type: 'event', title: 'Wine', starts_at: '2026-06-01', ...fields });
  const lineOf = (fields: object, property: string) =>
    textOf(event(fields))
      .replaceAll('\r\n ', '')
      .split('\r\n')
      .find((line) => line.startsWith(property));

  test('is an iCalendar file with its times in UTC', () => {
    const evening = { starts_at: '2026-06-01T19:00', ends_at: '2026-06-01T22:30', timezone: 'Europe/Berlin' };
    const text = textOf(event({ ...evening, title: 'Wine, cheese', location: 'Markt 1; Berlin', description: 'a\nb' }));
    expect(text.split('\r\n')).toEqual([
      'BEGIN:VCALENDAR',
      'VERSION:2.0',
      'PRODID:-//Scanlog//EN',
      'BEGIN:VEVENT',
      expect.stringMatching(/^UID:[0-9a-z]{8,13}$/),
      'DTSTAMP:20260601T170000Z',
      'DTSTART:20260601T170000Z',
      'DTEND:20260601T203000Z',
      'SUMMARY:Wine\\, cheese',
      'LOCATION:Markt 1\\; Berlin',
      'DESCRIPTION:a\\nb',
      'END:VEVENT',
      'END:VCALENDAR',
      '',
    ]);
    expect(textOf(event(evening))).toBe(textOf(event(evening)));
    expect(lineOf(evening, 'UID')).not.toBe(lineOf({}, 'UID'));
  });

  test('follows the clocks of its time zone', () => {
    const start = (starts_at: string, timezone?: string) =>
      lineOf({ starts_at, ...(timezone === undefined ? {} : { timezone }) }, 'DTSTART');
    expect(start('2026-01-15T19:00', 'Europe/Berlin')).toBe('DTSTART:20260115T180000Z');
    expect(start('2026-01-15T19:00:30', 'america/new_york')).toBe('DTSTART:20260116T000030Z');
    expect(start('2026-01-15T19:00:00+05:30')).toBe('DTSTART:20260115T133000Z');
    // Skipped by the clocks, and shown by them twice.
    expect(start('2026-03-29T02:30', 'Europe/Berlin')).toBe('DTSTART:20260329T013000Z');
    expect(start('2026-10-25T02:30', 'Europe/Berlin')).toBe('DTSTART:20261025T003000Z');
  });

  test('can take whole days, the last one included', () => {
    expect(lineOf({}, 'DTSTART')).toBe('DTSTART;VALUE=DATE:20260601');
    expect(lineOf({}, 'DTEND')).toBeUndefined();
    expect(lineOf({ ends_at: '2026-06-30' }, 'DTEND')).toBe('DTEND;VALUE=DATE:20260701');
  });

  test('is refused with what would be right', () => {
    const problems = (fields: object) => problemsOf(event(fields));
    expect(problems({ starts_at: '2026-06-01T19:00' })['starts_at']).toContain('needs timezone');
    expect(problems({ starts_at: '2026-02-30' })['starts_at']).toContain('must be a time');
    expect(problems({ starts_at: '2026-06-01T25:00Z' })['starts_at']).toContain('must be a time');
    expect(problems({ timezone: 'Mars/Base' })['timezone']).toContain('IANA');
    expect(problems({ ends_at: '2026-05-31' })['ends_at']).toBe('must be after starts_at');
    expect(problems({ ends_at: '2026-06-01T10:00Z' })['ends_at']).toBe('must be a day, like starts_at');
    expect(problems({ title: ' ' })['title']).toBe('must not be empty');
  });
});
