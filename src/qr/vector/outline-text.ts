import { cubicsOf, type Path } from '../path.ts';
import { numeral } from './numbers.ts';

/** The operators that build an outline: `m`, `l`, `c` and `h` in PDF, and the same in our PostScript prologue. */
export function outlineOf(path: Path): string {
  const parts: string[] = [];
  for (const segment of cubicsOf(path)) {
    switch (segment.kind) {
      case 'move':
        parts.push(`${numeral(segment.x)} ${numeral(segment.y)} m`);
        break;
      case 'line':
        parts.push(`${numeral(segment.x)} ${numeral(segment.y)} l`);
        break;
      case 'cubic': {
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
