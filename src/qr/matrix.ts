import QRCode from 'qrcode';

export type Mask = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7;

/** The symbol without its quiet zone. */
export interface Matrix {
  /** Modules on a side. */
  readonly side: number;
  /** Whether a module is dark; outside the symbol everything is light. */
  isDark(x: number, y: number): boolean;
}

export const FINDER_SIDE = 7;

/**
 * The symbol for a short URL: byte mode, error correction M. A mask is given only to compare pictures; without one the
 * best is taken.
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
  const far = side - FINDER_SIDE;
  return [
    { x: 0, y: 0 },
    { x: far, y: 0 },
    { x: 0, y: far },
  ];
}

export function inFinder(side: number, x: number, y: number): boolean {
  const far = side - FINDER_SIDE;
  return (x < FINDER_SIDE && (y < FINDER_SIDE || y >= far)) || (x >= far && y < FINDER_SIDE);
}
