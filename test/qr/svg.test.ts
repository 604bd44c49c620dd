import { describe, expect, test } from 'vitest';
import { drawSvg, escapeText } from '../../src/qr/svg.ts';
import { allShapes, assertWellFormed, exampleUrl, rasterize } from './support.ts';

describe('SVG', () => {
  test.each(allShapes)(
    '$dotsType, $cornersSquareType, $cornersDotType: under 20 KB, three paths, no scripts or references',
    (shapes) => {
      const svg = drawSvg(exampleUrl, shapes, 512);
      assertWellFormed(svg);
      expect(svg).toMatch(
        /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" width="512" height="512" viewBox="0 0 512 512" role="img">/,
      );
      expect(svg).toContain(`<title>QR code for ${exampleUrl}</title>`);
      expect(svg.match(/<path /g)).toHaveLength(3);
      expect(svg).not.toMatch(/<script|<style|<image|<use|<foreignObject|href|url\(|\son\w+=|<!/i);
      expect(svg.length).toBeLessThan(20_000);
    },
  );

  test('only square shapes have crisp edges', () => {
    expect(drawSvg(exampleUrl, {}, 512).match(/crispEdges/g)).toHaveLength(3);
    const roundCorners = { cornersSquareType: 'dot', cornersDotType: 'dot' } as const;
    expect(drawSvg(exampleUrl, roundCorners, 512).match(/crispEdges/g)).toHaveLength(1);
    expect(drawSvg(exampleUrl, { dotsType: 'rounded' }, 512)).not.toContain('crispEdges');
  });

  test('adjacent square dots share one outline', () => {
    const data = /fill="#000000"[^>]* d="([^"]*)"/.exec(drawSvg(exampleUrl, {}, 512))?.[1] ?? '';
    const rounded = /fill="#000000" d="([^"]*)"/.exec(drawSvg(exampleUrl, { dotsType: 'classy' }, 512))?.[1] ?? '';
    const dots = /fill="#000000" d="([^"]*)"/.exec(drawSvg(exampleUrl, { dotsType: 'dots' }, 512))?.[1] ?? '';
    const loops = (path: string) => path.match(/M/g)?.length ?? 0;
    expect(data).toMatch(/^[Mhvz\d\s.-]+$/);
    expect(loops(data)).toBe(loops(rounded));
    expect(loops(data)).toBeLessThan(loops(dots) / 2);
  });
});

describe('titles', () => {
  const hostile: [string, string, string][] = [
    ['markup', '</title><script>alert(1)</script>', '&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;'],
    ['an entity', 'Fish & chips &amp; &#0;', 'Fish &amp; chips &amp;amp; &amp;#0;'],
    ['quotes', `"it's"`, '&quot;it&#39;s&quot;'],
    ['CDATA', ']]><![CDATA[', ']]&gt;&lt;![CDATA['],
    ['control characters', 'a\u0000b\u001bc\r\n\td\u0085e', 'a b c d e'],
    ['lone surrogates', 'a\ud83db\udc4dc', 'a\ufffdb\ufffdc'],
    ['non-characters', 'a\ufffeb\uffff', 'a\ufffdb\ufffd'],
    ['emoji and other scripts', '菜单 🎉 قائمة', '菜单 🎉 قائمة'],
    ['nothing', '', ''],
  ];
  test.each(hostile)('%s', (_, title, expected) => {
    expect(escapeText(title)).toBe(expected);
    const svg = drawSvg(exampleUrl, {}, 128, { title });
    assertWellFormed(svg);
    expect(svg).toContain(`<title>${expected}</title>`);
    expect(rasterize(svg).width).toBe(128);
  });

  test('a URL with markup is escaped', () => {
    assertWellFormed(drawSvg('https://example.com/?a=1&b=<2>"', {}, 128));
  });
});
