import { describe, expect, test } from 'vitest';
import { locator } from '../../events/targeting/destination-query.ts';

const utm = { source: 'flyer', medium: 'qr' };

describe('the query of a scan', () => {
  test.each([
    ['https://e.com/m', 'table=5', 'https://e.com/m?table=5'],
    ['https://e.com', 'table=5', 'https://e.com?table=5'],
    ['https://e.com/?a=1', 'a=2&b=3', 'https://e.com/?a=1&b=3'],
    ['https://e.com/?a=1#menu', 'b=3&b=4', 'https://e.com/?a=1&b=3&b=4#menu'],
    ['https://e.com/#menu?x', 'x=1', 'https://e.com/?x=1#menu?x'],
    ['https://e.com/?', 'b=3', 'https://e.com/?b=3'],
    ['https://e.com/?a&', 'a=2&b', 'https://e.com/?a&b'],
    ['https://e.com/?caf%C3%A9=1', 'caf%c3%a9=2&c+d=1', 'https://e.com/?caf%C3%A9=1&c+d=1'],
    ['https://e.com/?c%20d=0', 'c+d=1', 'https://e.com/?c%20d=0'],
    ['https://e.com/', '', 'https://e.com/'],
    ['https://e.com/', '&&', 'https://e.com/'],
    ['https://e.com/', 'x=ü y#z&%=1', 'https://e.com/?x=%C3%BC%20y%23z&%=1'],
  ])('%s with %s', (destination, query, location) => {
    expect(locator(destination, { forward: true, utm: undefined })(query)).toBe(location);
  });

  test('is ignored unless it is forwarded', () => {
    expect(locator('https://e.com/?a=1', { forward: false, utm: undefined })('b=2')).toBe('https://e.com/?a=1');
    expect(locator('https://e.com/', { forward: false, utm })('utm_source=x')).toBe(
      'https://e.com/?utm_source=flyer&utm_medium=qr',
    );
  });
});

test('utm is added last, unless the destination or the scan has it', () => {
  const locate = locator('https://e.com/?utm_source=own#top', { forward: true, utm: { ...utm, campaign: 'a b&c' } });
  expect(locate('x=1')).toBe('https://e.com/?utm_source=own&x=1&utm_medium=qr&utm_campaign=a%20b%26c#top');
  expect(locate('utm_medium=mail')).toBe('https://e.com/?utm_source=own&utm_medium=mail&utm_campaign=a%20b%26c#top');
});
