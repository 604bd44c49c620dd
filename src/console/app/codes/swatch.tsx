import type { Style } from '../../../../events/style.ts';
import { geometryOf } from '../../../qr/geometry.ts';
import { matrixOf } from '../../../qr/matrix.ts';
import { boxPath, dotsPath, holePath } from '../../../qr/outline.ts';
import { writePathData } from '../../../qr/path-data.ts';
import { lookOf } from '../../../qr/style.ts';

const matrix = matrixOf('https://example.com/');

/** A close-up of a QR code in a style: some dots, or one corner. */
export function Swatch({ style, part }: { style: Style; part: 'dots' | 'corner' }) {
  const { side, dots, rings, eyes } = geometryOf(matrix, lookOf(style));
  const path =
    part === 'dots'
      ? dotsPath(side, dots)
      : [...rings.flatMap(({ outer, hole }) => [...boxPath(outer), ...holePath(hole)]), ...eyes.flatMap(boxPath)];
  return (
    <svg class="swatch" viewBox={part === 'dots' ? '9 9 7 7' : '-.5 -.5 8 8'} aria-hidden="true">
      <path d={writePathData(path)} />
    </svg>
  );
}
