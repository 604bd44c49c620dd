import { describe, expect, test } from 'vitest';
import { problemWithDestination, problemWithName } from '../../events/fields.ts';

const shortOrigin = 'https://go.example.com';
const pathOf = (length: number) => `https://example.com/${'a'.repeat(length - 'https://example.com/'.length)}`;

describe('a name', () => {
  test.each([
    ['one letter', 'M'],
    ['255 letters', 'n'.repeat(255)],
    ['255 letters between spaces', `  ${'n'.repeat(255)}\n`],
    ['255 characters beyond the basic plane', '🍋'.repeat(255)],
    ['any script', 'Café 楽しい меню قائمة'],
    ['markup', '<b>Menu</b> & "more"'],
  ])('may be %s', (_, name) => {
    expect(problemWithName(name)).toBeUndefined();
  });

  test.each([
    ['empty', ''],
    ['only spaces', ' \t\n\u00a0 '],
    ['256 letters', 'n'.repeat(256)],
    ['256 characters beyond the basic plane', '🍋'.repeat(256)],
  ])('must not be %s', (_, name) => {
    expect(problemWithName(name)).toBe('must have 1 to 255 characters besides surrounding spaces');
  });

  test.each([
    ['NUL', 'Me\u0000nu'],
    ['a line break', 'Me\nnu'],
    ['a tabulator', 'Me\tnu'],
    ['escape', 'Me\u001b[31mnu'],
    ['delete', 'Me\u007fnu'],
    ['a C1 control', 'Me\u0085nu'],
    ['half a surrogate pair', 'Me\ud83cnu'],
  ])('must not contain %s', (_, name) => {
    expect(problemWithName(name)).toBe('must not contain control characters');
  });
});

describe('a destination', () => {
  test.each([
    'https://example.com',
    'http://example.com/menu?table=4&lang=de#drinks',
    'HTTPS://EXAMPLE.COM/Menu',
    'https://example.com/me@home?mail=me@example.com#a@b',
    'https://example.com/a\\b?c=\\',
    'https://example.com/%E2%80%AEgnp.exe',
    'https://example.com/caf%C3%A9',
    'https://example.com/café?q=楽#ü',
    'https://xn--caf-dma.example/',
    'https://café.example/',
    'https://203.0.113.7/',
    'https://[2001:db8::1]:8080/x',
    'https://example.com/🍋',
    "https://example.com/a(b)[c]{d}|e'f!$&;=,~",
    'https://go.example.com.evil.example/',
    'https://notgo.example.com/',
    'https://go.example.com:8443/elsewhere',
    pathOf(2048),
  ])('may be %s', (destination) => {
    expect(problemWithDestination(destination, shortOrigin)).toBeUndefined();
  });

  test('is limited in characters, not in bytes', () => {
    const lemons = `https://example.com/${'🍋'.repeat(2028)}`;
    expect([...lemons]).toHaveLength(2048);
    expect(problemWithDestination(lemons, shortOrigin)).toBeUndefined();
    expect(problemWithDestination(`${lemons}🍋`, shortOrigin)).toBe('must have at most 2,048 characters');
  });

  test.each([
    '',
    'example.com',
    '/menu',
    '//example.com/menu',
    'https:example.com',
    'https:/example.com',
    'ftp://example.com/',
    'mailto:someone@example.com',
    'tel:+123456789',
    'javascript:alert(1)',
    'JavaScript://example.com/%0Aalert(1)',
    'data:text/html,hi',
    'file:///etc/passwd',
    'blob:https://example.com/x',
    'view-source:https://example.com',
    'httpsx://example.com',
    ' https://example.com',
    '\thttps://example.com',
    '\u0000https://example.com',
  ])('must begin with http:// or https://: %j', (destination) => {
    expect(problemWithDestination(destination, shortOrigin)).toBe(
      'must be an absolute URL that begins with http:// or https://',
    );
  });

  test.each([
    'https://example.com/a b',
    'https://example.com/ ',
    'https://example.com/\n',
    'https://exam\nple.com/',
    'https://example.com/a\r\nSet-Cookie: x',
    'https://example.com/\u0000',
    'https://example.com/\u00a0',
    'https://example.com/\u2028',
    'https://example.com/\u007f',
    'https://example.com/\ud800',
  ])('must not contain spaces or control characters: %j', (destination) => {
    expect(problemWithDestination(destination, shortOrigin)).toMatch(/^must not contain spaces or control characters/);
  });

  test.each([
    'https://',
    'https:///example.com',
    'https://\\example.com',
    'https://?x',
    'https://#x',
    'https://exa<mple.com/',
    'https://example.com:99999/',
    'https://example.com:port/',
    'https://[::1',
    'https://256.256.256.256/',
    'https://xn--a/',
    'https://%00.example/',
    'https://@/',
  ])('must have a valid host: %s', (destination) => {
    expect(problemWithDestination(destination, shortOrigin)).toMatch(/^must be a URL with a valid host/);
  });

  test('must not have 2,049 characters', () => {
    expect(problemWithDestination(pathOf(2049), shortOrigin)).toBe('must have at most 2,048 characters');
  });

  test.each([
    'https://go.example.com',
    'https://go.example.com/abc',
    'https://go.example.com:443/abc',
    'http://go.example.com/abc',
    'https://GO.Example.COM/abc',
    'https://go.example.com./abc',
    'http://go.example.com:443/abc',
    'https://go.example.com:80/abc',
    'https://go.example.com?x',
    'https://go%2eexample.com/abc',
    'https://go.exam\u00adple.com/abc',
    'https://ｇｏ.example.com/abc',
  ])('must not lead to the origin of short links: %s', (destination) => {
    expect(problemWithDestination(destination, shortOrigin)).toBe(
      'must not lead to https://go.example.com, an address of this service: that would be a loop',
    );
  });

  test.each([
    'https://google.com@evil.example',
    'https://me:secret@example.com/',
    'https://@example.com/',
    'https://:@example.com/',
    'https://a@b@example.com/',
  ])('must not have a user name or password: %s', (destination) => {
    expect(problemWithDestination(destination, shortOrigin)).toMatch(/^must not have a user name or password/);
  });

  test.each(['https://example.com\\@evil.example', 'https://example.com\\path', 'https://evil.example\\.example.com/'])(
    'must not have a backslash before the path: %s',
    (destination) => {
      expect(problemWithDestination(destination, shortOrigin)).toMatch(/^must not have a backslash before the path/);
    },
  );

  test.each(['\u061c', '\u200e', '\u200f', '\u202a', '\u202e', '\u2066', '\u2069'])(
    'must not contain the bidirectional control %j',
    (char) => {
      for (const destination of [`https://example.com/${char}gpj.exe`, `https://exa${char}mple.com/`])
        expect(problemWithDestination(destination, shortOrigin)).toMatch(/direction of text/);
    },
  );

  test.each([
    'http://localhost:3000/abc',
    'http://LOCALHOST.:3000/abc',
    'http://any.localhost:3000/abc',
    'http://127.0.0.1:3000/abc',
    'http://127.1:3000/abc',
    'http://2130706433:3000/abc',
    'http://127.9.9.9:3000/abc',
    'http://0.0.0.0:3000/abc',
    'http://[::1]:3000/abc',
    'http://[0:0:0:0:0:0:0:1]:3000/abc',
    'http://[::ffff:127.0.0.1]:3000/abc',
    'http://127.0.0.1..:3000/abc',
    'http://[::]:3000/abc',
    'https://127.0.0.1:3000/abc',
  ])('must not lead to a loopback name with the service’s port: %s', (destination) => {
    expect(problemWithDestination(destination, shortOrigin, 'http://localhost:3000')).toMatch(/loop$/);
    expect(
      problemWithDestination(destination.replace('3000', '3001'), shortOrigin, 'http://localhost:3000'),
    ).toBeUndefined();
  });

  test('may lead to the short link host on another port', () => {
    expect(problemWithDestination('http://localhost:3000/abc', 'http://localhost:3000')).toMatch(/loop$/);
    expect(problemWithDestination('http://localhost:3001/abc', 'http://localhost:3000')).toBeUndefined();
  });
});
