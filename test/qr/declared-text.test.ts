import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { errorCorrectionLevels } from '../../events/style-shapes.ts';
import { type Decoder, loadDecoders } from '../../src/proof/decoders.ts';
import { problemWithLength } from '../../src/qr/capacity.ts';
import { symbolMatrix } from '../../src/qr/declared-text.ts';
import { type Mask, type Matrix, matrixOf } from '../../src/qr/matrix.ts';

let decoders: Decoder[];
beforeAll(async () => {
  decoders = await loadDecoders();
});

const scale = 3;
const quiet = 4;

/** The modules as an image. */
function imageOf({ side, isDark }: Matrix) {
  const width = (side + 2 * quiet) * scale;
  const at = (pixel: number) => Math.floor(pixel / scale) - quiet;
  const data = Uint8Array.from({ length: width * width }, (_, i) =>
    isDark(at(i % width), at(Math.floor(i / width))) ? 0 : 255,
  );
  return { width, height: width, data };
}

async function expectRead(matrix: Matrix, text: string): Promise<void> {
  for (const decoder of decoders) expect(await decoder.read(imageOf(matrix)), decoder.name).toBe(text);
}

describe('a text that is declared as UTF-8', () => {
  test('is read in every mask and level', async () => {
    for (const level of errorCorrectionLevels)
      for (let mask = 0; mask < 8; mask++) {
        const text = `Größe ${level}${mask} 日本語 🍵`;
        await expectRead(symbolMatrix(text, { level, mask: mask as Mask, declaresUtf8: true }), text);
      }
  });

  test('is read whatever it is', async () => {
    const texts = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 300 });
    await fc.assert(
      fc.asyncProperty(texts, fc.constantFrom(...errorCorrectionLevels), async (any, level) => {
        const text = `é${any}`;
        await expectRead(symbolMatrix(text, { level, declaresUtf8: true }), text);
      }),
      { numRuns: 15 },
    );
  });

  test('has exactly as much room as a text may have', async () => {
    for (const [level, bytes] of Object.entries({ L: 2952, M: 2330, Q: 1662, H: 1272 } as const)) {
      const text = 'é'.repeat(bytes / 2);
      const of = level as keyof { L: 1; M: 1; Q: 1; H: 1 };
      expect(problemWithLength(text, of)).toBeUndefined();
      expect(problemWithLength(`${text}x`, of)).toContain('1 more than');
      const matrix = symbolMatrix(text, { level: of, declaresUtf8: true });
      expect(matrix.side).toBe(177);
      expect(await decoders[0]?.read(imageOf(matrix))).toBe(text);
      expect(() => symbolMatrix(`${text}x`, { level: of, declaresUtf8: true })).toThrow(RangeError);
    }
  });

  test('differs from a link and from ASCII, which stay as they are', () => {
    const dots = ({ side, isDark }: Matrix) =>
      Array.from({ length: side * side }, (_, i) => isDark(i % side, Math.floor(i / side)));
    const link = 'https://bücher.example/café';
    expect(dots(symbolMatrix(link, { level: 'M' }))).toEqual(dots(matrixOf(link)));
    expect(dots(symbolMatrix('Table 12', { level: 'M', declaresUtf8: true }))).toEqual(dots(matrixOf('Table 12')));
    expect(dots(symbolMatrix(link, { level: 'M', declaresUtf8: true }))).not.toEqual(dots(matrixOf(link)));
  });
});
