import { describe, expect, test } from 'vitest';
import { displayDestination, readDestination } from '../../src/console/app/codes/destination.ts';

describe('a destination as typed', () => {
  test.each([
    'example.com',
    'example.com/menu?table=1#top',
    'example.com:8443/menu',
    'sub-domain.example.co.uk.',
    'münchen.de/straße',
    '例え.jp',
    '93.184.216.34/x',
    '[2606:4700::1111]:8080/x',
    'my_shop.example.com',
    'http.cat/404',
    'tel.example.com',
  ])('that looks like a host name is completed: %s', (text) => {
    expect(readDestination(` ${text} `)).toEqual({ url: `https://${text}`, error: undefined, warning: undefined });
  });

  test.each(['https://example.com', 'http://example.com/a', 'HTTPS://Example.com'])(
    'is kept with its scheme: %s',
    (url) => {
      expect(readDestination(url)).toEqual({ url, error: undefined, warning: undefined });
    },
  );

  test.each([
    ['mailto:me@cafe.de', 'mailto: links cannot be destinations'],
    ['tel:+49301234567', 'tel: links cannot be destinations'],
    ['tel:12345', 'tel: links cannot be destinations'],
    ['SMS:12345', 'sms: links cannot be destinations'],
    ['javascript:alert(1)', 'javascript: links cannot be destinations'],
    ['javascript:1', 'javascript: links cannot be destinations'],
    ['ftp://example.com', 'ftp: links cannot be destinations'],
    ['whatsapp://send?text=hi', 'whatsapp: links cannot be destinations'],
    ['WIFI:T:WPA;S:cafe;;', 'wifi: links cannot be destinations'],
    ['htp:/cafe', '“htp:/” is misspelled'],
    ['http:/cafe.de', '“http:/” is misspelled'],
    ['https//cafe.de', '“https//” is misspelled'],
    ['https:cafe.de', '“https:” is misspelled'],
    ['htttps://cafe.de', '“htttps://” is misspelled'],
    ['ttps://cafe.de', '“ttps://” is misspelled'],
    ['=HYPERLINK(1)', 'This is not the address of a web page'],
    ['me@cafe.de', 'An email address cannot be a destination'],
    ['Table 1', 'This is not the address of a web page'],
    ['12', 'This is not the address of a web page'],
    ['1.5', 'This is not the address of a web page'],
    ['//example.com', 'This is not the address of a web page'],
    ['-example.com', 'This is not the address of a web page'],
    ['example.com:99999', 'must be a URL with a valid host'],
    ['https://user@example.com', 'must not have a user name'],
    ['', 'Enter a destination'],
    ['   ', 'Enter a destination'],
  ])('is refused with its reason: %s', (text, reason) => {
    expect(readDestination(text).error).toContain(reason);
  });

  test('on this service is refused', () => {
    expect(readDestination('sho.rt/menu', 'https://sho.rt').error).toContain('loop');
  });

  test.each([
    ['cafe', '“cafe” has no dot'],
    ['https://intranet/menu', '“intranet” has no dot'],
    ['localhost:3000/x', 'localhost is the visitor’s own device'],
    ['http://127.0.0.1', '127.0.0.1 is the visitor’s own device'],
    ['192.168.0.10/menu', '192.168.0.10 can be reached only in your own network'],
    ['printer.local', 'printer.local can be reached only in your own network'],
  ])('that visitors cannot reach is accepted with a warning: %s', (text, warning) => {
    const read = readDestination(text);
    expect(read.error).toBeUndefined();
    expect(read.warning).toContain(warning);
  });
});

describe('a destination on display', () => {
  test.each([
    ['https://example.com/menu', 'example.com/menu'],
    ['https://example.com/', 'example.com'],
    ['https://example.com/menu/', 'example.com/menu/'],
    ['https://example.com:8443/menu', 'example.com:8443/menu'],
  ])('is shortened where nothing is lost: %s', (url, shown) => {
    expect(displayDestination(url)).toBe(shown);
  });

  test.each([
    'https://mailto:me@cafe.de',
    'https://htp:/cafe',
    'https://=HYPERLINK(1)',
    'https://cafe',
    'https://tel:12345',
    'https://https//cafe.de',
    'http://example.com/menu',
    'https://localhost/x',
    '',
  ])('is shown whole where something is or may be wrong: %s', (url) => {
    expect(displayDestination(url)).toBe(url);
  });
});
