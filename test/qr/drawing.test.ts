import { afterAll, describe, expect, test } from 'vitest';
import { createDrawing } from '../../src/qr/drawing.ts';
import { drawPicture, type Picture } from '../../src/qr/picture.ts';

const drawing = createDrawing(new URL('./exiting-worker.ts', import.meta.url));
afterAll(() => drawing.close());

const png: Picture = { url: 'https://example.com/menu', style: {}, format: 'png', size: 128 };

describe('a drawing thread that exits without an error', () => {
  test('rejects its pending pictures, and a new thread draws the next one', async () => {
    for (let round = 0; round < 2; round++) {
      const results = await Promise.allSettled([drawing.draw({ ...png, format: 'svg' }), drawing.draw(png)]);
      expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
      expect(await drawing.draw(png)).toEqual(await drawPicture(png));
    }
  });
});
