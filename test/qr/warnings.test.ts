import { describe, expect, test } from 'vitest';
import type { Style } from '../../events/style.ts';
import { contrast, luminance, rgbOf } from '../../src/qr/color.ts';
import { styleWarnings } from '../../src/qr/warnings.ts';

describe('contrast as WCAG 2 defines it', () => {
  test.each([
    ['#000000', '#FFFFFF', 21],
    ['#FFFFFF', '#FFFFFF', 1],
    ['#777777', '#FFFFFF', 4.48],
    ['#FF0000', '#FFFFFF', 4],
    ['#0000FF', '#FFFFFF', 8.59],
    ['#FFFF00', '#FFFFFF', 1.07],
  ])('%s and %s: %d', (one, other, expected) => {
    expect(contrast(rgbOf(one), rgbOf(other))).toBeCloseTo(expected, 2);
    expect(contrast(rgbOf(other), rgbOf(one))).toBe(contrast(rgbOf(one), rgbOf(other)));
  });

  test('luminance', () => {
    expect(luminance(rgbOf('#000000'))).toBe(0);
    expect(luminance(rgbOf('#FFFFFF'))).toBeCloseTo(1, 10);
    expect(luminance(rgbOf('#808080'))).toBeCloseTo(0.2159, 4);
  });
});

describe('no warnings for styles that scanners read well', () => {
  test.each<Style>([
    {},
    { dotsType: 'dots', cornersSquareType: 'dot', cornersDotType: 'dot' },
    { dotsColor: '#1E3A8A' },
    { dotsColor: '#949494' },
    { dotsColor: '#7F1D1D', backgroundColor: '#FFF8E7', cornersSquareColor: '#000000', cornersDotColor: '#14532D' },
  ])('%o', (style) => {
    expect(styleWarnings(style)).toEqual([]);
  });
});

describe('warnings', () => {
  test('low contrast is reported with the ratio', () => {
    expect(styleWarnings({ dotsColor: '#cccccc' })).toEqual([
      {
        field: 'dotsColor',
        message:
          'The dots (#CCCCCC) and the background (#FFFFFF) have a contrast of 1.60:1; scanners need at least 3:1.',
      },
    ]);
  });

  test('just below 3:1 is not reported as 3.00', () => {
    expect(styleWarnings({ dotsColor: '#959595' })[0]?.message).toContain('2.99:1');
  });

  test('light dots on a dark background are reported despite high contrast', () => {
    expect(styleWarnings({ dotsColor: '#FFFFFF', backgroundColor: '#000000' })).toEqual([
      {
        field: 'dotsColor',
        message:
          'The dots (#FFFFFF) and the background (#000000) are inverted, light on dark; many scanners read only dark modules on a light background.',
      },
    ]);
  });

  test('low contrast and inversion are one warning', () => {
    const [warning, ...others] = styleWarnings({ dotsColor: '#777777', backgroundColor: '#666666' });
    expect(warning?.message).toMatch(/contrast of 1\.\d\d:1.*inverted/);
    expect(others).toEqual([]);
  });

  const fields: [Style, string[]][] = [
    [{ backgroundColor: '#111111' }, ['backgroundColor']],
    [{ backgroundColor: '#000000', cornersSquareColor: '#222222' }, ['backgroundColor', 'cornersSquareColor']],
    [{ cornersSquareColor: '#FFFF00' }, ['cornersSquareColor']],
    [{ cornersDotColor: '#FFFF00' }, ['cornersDotColor']],
    [{ cornersSquareColor: '#FFFF00', cornersDotColor: '#000000' }, ['cornersSquareColor']],
    [
      { dotsColor: '#FFFF00', cornersSquareColor: '#FFFF00', cornersDotColor: '#FFFF00' },
      ['dotsColor', 'cornersSquareColor', 'cornersDotColor'],
    ],
  ];
  test.each(fields)('%o: reports each given field once', (style, expected) => {
    expect(styleWarnings(style).map(({ field }) => field)).toEqual(expected);
  });
});
