import { describe, expect, test } from 'vitest';
import { drawPicture, etagOf, matchesEtag, type Picture } from '../../src/qr/picture.ts';
import { decodePng, exampleUrl } from './support.ts';

const picture: Picture = { url: exampleUrl, style: {}, format: 'png', size: 512 };

describe('a picture', () => {
  test('is drawn as PNG', async () => {
    expect(decodePng(await drawPicture(picture)).width).toBe(512);
  });

  test('is drawn as SVG', async () => {
    expect(new TextDecoder().decode(await drawPicture({ ...picture, format: 'svg' }))).toMatch(/^<svg .*<\/svg>\n$/s);
  });
});

describe('ETag', () => {
  test('is strong and a valid entity tag', () => {
    expect(etagOf(picture)).toMatch(/^"[\w-]{27}"$/);
  });

  test('is equal for styles that look the same', () => {
    expect(etagOf({ ...picture, style: { dotsColor: '#000000', dotsType: 'square' } })).toBe(etagOf(picture));
    expect(etagOf({ ...picture, style: { dotsColor: '#abcdef' } })).toBe(
      etagOf({ ...picture, style: { cornersDotColor: '#ABCDEF', dotsColor: '#ABCDEF' } }),
    );
  });

  test('changes with every input of the picture', () => {
    const others: Picture[] = [
      picture,
      { ...picture, url: `${exampleUrl}2` },
      { ...picture, format: 'svg' },
      { ...picture, size: 513 },
      { ...picture, style: { dotsType: 'dots' } },
      { ...picture, style: { dotsColor: '#000001' } },
      { ...picture, style: { backgroundColor: '#000001' } },
      { ...picture, style: { cornersSquareType: 'dot' } },
      { ...picture, style: { cornersSquareColor: '#000001' } },
      { ...picture, style: { cornersDotType: 'dot' } },
      { ...picture, style: { cornersDotColor: '#000001' } },
    ];
    expect(new Set(others.map(etagOf)).size).toBe(others.length);
  });

  test.each([
    ['"a"', true],
    ['W/"a"', true],
    ['"b", "a"', true],
    ['"b",W/"a" , "c"', true],
    ['*', true],
    [' * ', true],
    ['"b"', false],
    ['a', false],
    ['"A"', false],
    ['"b, a"', false],
    ['', false],
    ['"*"', false],
  ])('If-None-Match: %s', (header, expected) => {
    expect(matchesEtag(header, '"a"')).toBe(expected);
  });
});
