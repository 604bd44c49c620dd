import { expect, test } from 'vitest';
import { isEmailAddress } from '../../src/lib/email.ts';

test('addresses of mailboxes', () => {
  for (const good of [
    'ada@example.com',
    "o'neil+qr@mail.example.co.uk",
    'grüße@müller.example',
    'a@xn--mller-kva.example',
  ])
    expect([good, isEmailAddress(good)]).toEqual([good, true]);
});

test('texts that are none, or that would change a header or a command', () => {
  const bad = [
    '',
    'ada',
    'ada@',
    '@example.com',
    'ada@localhost',
    'a b@example.com',
    'a@example.com\r\nRCPT TO:<b@example.com>',
  ];
  const more = [
    'a..b@example.com',
    '.a@example.com',
    'a@-example.com',
    'a@exa_mple.com',
    'A <a@example.com>',
    'a@b.c,d@e.f',
  ];
  const long = [
    `${'a'.repeat(65)}@example.com`,
    `a@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.${'e'.repeat(60)}.${'f'.repeat(60)}.com`,
  ];
  for (const text of [...bad, ...more, ...long]) expect([text, isEmailAddress(text)]).toEqual([text, false]);
});
