import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { problemWithDestination } from '../../events/fields.ts';
import { toLocation } from '../../src/edge/location.ts';

describe('Location', () => {
  test.each([
    ['https://example.com', 'https://example.com'],
    ['HTTPS://Example.COM:443/a/../b?x=1&y=#z', 'HTTPS://Example.COM:443/a/../b?x=1&y=#z'],
    ['https://example.com/"quoted"|{}^`\\', 'https://example.com/"quoted"|{}^`\\'],
    ['https://example.com/%E2%82%AC', 'https://example.com/%E2%82%AC'],
    ['https://münchen.de/', 'https://xn--mnchen-3ya.de/'],
    ['https://münchen.de:8443/straße?q=ü#ä', 'https://xn--mnchen-3ya.de:8443/stra%C3%9Fe?q=%C3%BC#%C3%A4'],
    ['https://josé:pässword@example.com/', 'https://jos%C3%A9:p%C3%A4ssword@example.com/'],
    ['https://example.com/日本語/🍜', 'https://example.com/%E6%97%A5%E6%9C%AC%E8%AA%9E/%F0%9F%8D%9C'],
    ['https://日本語.jp', 'https://xn--wgv71a119e.jp'],
    ['https://münchen.de\\pfad', 'https://xn--mnchen-3ya.de\\pfad'],
    ['https://[2001:db8::1]/ä', 'https://[2001:db8::1]/%C3%A4'],
  ])('of %s is %s', (destination, location) => {
    expect(toLocation(destination)).toBe(location);
  });

  test('of any valid destination is ASCII and the same URL', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        'ü',
        '€',
        '日本',
        '🍜',
        '\\',
        '"',
        '%41',
        '%',
        "'",
        '@',
        ':',
        '?',
        '#',
        '/',
        '.',
        '\u200d',
        '\u0301',
      ),
      fc.string({ unit: 'grapheme', maxLength: 5 }),
      fc.webPath(),
    );
    const host = fc.oneof(
      fc.domain(),
      fc.domain().map((name) => `bücher.${name}`),
      fc.ipV6().map((address) => `[${address}]`),
    );
    const destination = fc
      .tuple(fc.constantFrom('http://', 'https://'), host, fc.array(piece, { maxLength: 6 }))
      .map(([scheme, name, pieces]) => `${scheme}${name}/${pieces.join('')}`)
      .filter((url) => problemWithDestination(url, 'https://short.example') === undefined);
    fc.assert(
      fc.property(destination, (url) => {
        const location = toLocation(url);
        expect(location).toMatch(/^[\x21-\x7e]+$/);
        expect(new URL(location).href).toBe(new URL(url).href);
      }),
      { numRuns: 2_000 },
    );
  });
});
