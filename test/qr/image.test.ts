import { describe, expect, test } from 'vitest';
import { drawQrImage, etagOf, matchesEtag, type QrImage } from '../../src/qr/image.ts';
import { decodePng, exampleUrl } from './support.ts';

const image: QrImage = { url: exampleUrl, style: {}, format: 'png', size: 512 };

describe('an image', () => {
  test('is drawn as PNG', async () => {
    expect(decodePng(await drawQrImage(image)).width).toBe(512);
  });

  test('is drawn as SVG', async () => {
    expect(new TextDecoder().decode(await drawQrImage({ ...image, format: 'svg' }))).toMatch(/^<svg .*<\/svg>\n$/s);
  });
});

describe('ETag', () => {
  test('is strong and a valid entity tag', () => {
    expect(etagOf(image)).toMatch(/^"[\w-]{27}"$/);
  });

  test('is equal for styles that look the same', () => {
    expect(etagOf({ ...image, style: { dotsColor: '#000000', dotsType: 'square' } })).toBe(etagOf(image));
    expect(etagOf({ ...image, style: { dotsColor: '#abcdef' } })).toBe(
      etagOf({ ...image, style: { cornersDotColor: '#ABCDEF', dotsColor: '#ABCDEF' } }),
    );
  });

  test('changes with every input of the image', () => {
    const others: QrImage[] = [
      image,
      { ...image, url: `${exampleUrl}2` },
      { ...image, format: 'svg' },
      { ...image, size: 513 },
      { ...image, style: { dotsType: 'dots' } },
      { ...image, style: { dotsColor: '#000001' } },
      { ...image, style: { backgroundColor: '#000001' } },
      { ...image, style: { cornersSquareType: 'dot' } },
      { ...image, style: { cornersSquareColor: '#000001' } },
      { ...image, style: { cornersDotType: 'dot' } },
      { ...image, style: { cornersDotColor: '#000001' } },
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
