import QRCode from 'qrcode';

export type Mask = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7;

/** The symbol without its quiet zone. */
export interface Matrix {
  /** Modules on a side. */
  readonly side: number;
  /** Whether a module is dark; outside the symbol everything is light. */
  isDark(x: number, y: number): boolean;
}

export const finderSide = 7;

/**
 * The symbol of a short URL in byte mode with error correction M. Tests fix the mask to compare pictures; by default
 * the best one is chosen.
 */
export function matrixOf(url: string, mask?: Mask): Matrix {
  const { modules } = QRCode.create([{ data: new TextEncoder().encode(url), mode: 'byte' }], {
    errorCorrectionLevel: 'M',
    maskPattern: mask,
  });
  const { size: side, data } = modules;
  return {
    side,
    isDark: (x, y) => x >= 0 && y >= 0 && x < side && y < side && data[y * side + x] === 1,
  };
}

/** Top-left modules of the three finder patterns. */
export function findersOf(side: number): readonly { x: number; y: number }[] {
  const far = side - finderSide;
  return [
    { x: 0, y: 0 },
    { x: far, y: 0 },
    { x: 0, y: far },
  ];
}

export function inFinder(side: number, x: number, y: number): boolean {
  const far = side - finderSide;
  return (x < finderSide && (y < finderSide || y >= far)) || (x >= far && y < finderSide);
}
