import { numeral } from './numbers.ts';
import { segmentsOf } from './path.ts';

/** The operators that build an outline: `m`, `l`, `c` and `h` in PDF, and the same in our PostScript prologue. */
export function outlineOf(data: string): string {
  const parts: string[] = [];
  for (const segment of segmentsOf(data)) {
    switch (segment.kind) {
      case 'move':
        parts.push(`${numeral(segment.x)} ${numeral(segment.y)} m`);
        break;
      case 'line':
        parts.push(`${numeral(segment.x)} ${numeral(segment.y)} l`);
        break;
      case 'curve': {
        const { x1, y1, x2, y2, x, y } = segment;
        parts.push(`${numeral(x1)} ${numeral(y1)} ${numeral(x2)} ${numeral(y2)} ${numeral(x)} ${numeral(y)} c`);
        break;
      }
      case 'close':
        parts.push('h');
    }
  }
  return parts.join('\n');
}
