import { describe, expect, test } from 'vitest';
import frameFont from '../../../src/qr/frame-font.json' with { type: 'json' };
import { captionLines, writableText } from '../../../src/qr/sheet/caption.ts';
import { planLabel } from '../../../src/qr/sheet/label.ts';
import { cellsOf, labelSizeOf, stockLayouts } from '../../../src/qr/sheet/layouts.ts';
import { drawSheetPage, type Label } from '../../../src/qr/sheet/sheet-page.ts';
import { type Labels, writeSheets } from '../../../src/qr/sheet/sheets.ts';
import { widthOf } from '../../../src/qr/text.ts';
import { scanAll } from '../support.ts';
import { printStyles, rasterizePdf } from '../vector/support.ts';

describe('layouts', () => {
  test.each(Object.entries(stockLayouts))('%s: labels lie on the page and do not overlap', (_, layout) => {
    const cells = cellsOf(layout);
    const { width, height } = labelSizeOf(layout);
    expect(cells).toHaveLength(layout.columns * layout.rows);
    for (const { x, y } of cells) {
      expect(Math.min(x, y)).toBeGreaterThanOrEqual(-1e-9);
      expect(x + width).toBeLessThanOrEqual(layout.page.width + 1e-9);
      expect(y + height).toBeLessThanOrEqual(layout.page.height + 1e-9);
    }
    expect(layout.gap.x).toBeGreaterThanOrEqual(0);
  });

  test('a wide label has its caption beside the code, any other below it', () => {
    const wide = planLabel({ x: 0, y: 0, width: 70, height: 37 }, true);
    expect(wide.caption).toMatchObject({ align: 'left', y: wide.image.y });
    const square = planLabel({ x: 0, y: 0, width: 40, height: 40 }, true);
    expect(square.caption?.y).toBeCloseTo(square.image.y + square.image.height);
    expect(planLabel({ x: 0, y: 0, width: 40, height: 40 }, false).caption).toBeUndefined();
  });
});

describe('captions', () => {
  const area = { x: 0, y: 0, width: 30, height: 12, align: 'left' } as const;
  const widths = (text: string) =>
    captionLines(text, area, frameFont).map((line) => (widthOf(line.text, frameFont) * line.sizeMm) / 1000);

  test.each([
    'Table 1',
    'Long name of a table in the garden behind the house',
    `https://go.example.com/${'spring-menu-'.repeat(4)}`,
    'x'.repeat(255),
    'word '.repeat(80),
  ])('%s: every line fits', (text) => {
    const lines = captionLines(text, area, frameFont);
    expect(Math.max(...widths(text))).toBeLessThanOrEqual(area.width + 1e-6);
    expect(lines.length * (lines[0]?.sizeMm ?? 0) * 1.25).toBeLessThanOrEqual(area.height + 1e-6);
    const shown = lines.map((line) => line.text).join('');
    if (text.length < 100) expect(shown.replaceAll(/\s/g, '')).toBe(text.replaceAll(/\s/g, ''));
    else expect(shown).toMatch(/…$/);
  });

  test('a name that the font cannot write is replaced by the short link', () => {
    expect(writableText('桌子', 'go.example.com/x', frameFont)).toBe('go.example.com/x');
    expect(writableText('Стол 3', 'go.example.com/x', frameFont)).toBe('Стол 3');
    expect(writableText('Terrace café 3 ☕', 'go.example.com/x', frameFont), 'no box').toBe('Terrace café 3');
    expect(writableText('Cafe\u0301', 'go.example.com/x', frameFont), 'composed').toBe('Café');
  });
});

const listed = (labels: Label[]): Labels => ({
  count: labels.length,
  part: async (from, to) => labels.slice(from, to),
});

describe('a sheet', () => {
  test('has every label once, shares what labels have in common, and is the same every time', async () => {
    const labels = Array.from({ length: 27 }, (_, i) => {
      const [, style = {}, logo] = printStyles[i % printStyles.length] ?? [];
      return { url: `https://scan.example.com/code-${i}`, style, logo, caption: i % 2 ? `Стол ${i}` : undefined };
    });
    const written = async () => {
      const pieces: Uint8Array[] = [];
      const sheet = {
        layout: stockLayouts['a4-3x8'],
        color: 'rgb' as const,
        skip: 1,
        title: 'Labels',
        labels: async () => listed(labels),
      };
      for await (const piece of writeSheets(sheet, async (load) => drawSheetPage(await load()))) pieces.push(piece);
      return Buffer.concat(pieces);
    };
    const pdf = await written();
    expect(await written()).toEqual(pdf);
    const text = pdf.toString('latin1');
    expect(text).toContain('/Count 2');
    expect(text.match(/\/Subtype\/Image/g), 'one logo and its mask').toHaveLength(2);
    const pages = await rasterizePdf(pdf, 200);
    const found = (await Promise.all(pages.map(scanAll))).flat();
    expect(found.toSorted()).toEqual(labels.map(({ url }) => url).toSorted());
  });

  test('reads its labels once, when the first page has its turn', async () => {
    const turns: (() => void)[] = [];
    let reads = 0;
    const labels = Array.from({ length: 25 }, (_, i) => ({ url: `https://scan.example.com/${i}`, style: {} }));
    const sheet = {
      layout: stockLayouts['a4-3x8'],
      color: 'rgb' as const,
      skip: 0,
      title: 'Labels',
      labels: async () => {
        reads++;
        return listed(labels);
      },
    };
    const pieces = writeSheets(sheet, async (load) => {
      await new Promise<void>((resolve) => turns.push(resolve));
      return drawSheetPage(await load());
    });
    const first = pieces.next();
    expect({ turns: turns.length, reads }).toEqual({ turns: 1, reads: 0 });
    turns[0]?.();
    await first;
    const second = pieces.next();
    turns[1]?.();
    await second;
    expect((await pieces.next()).value?.length, 'the end of the file').toBeGreaterThan(0);
    expect({ turns: turns.length, reads }).toEqual({ turns: 2, reads: 1 });
  });
});
