/// <reference path="./qrcode-internals.d.ts" />
import QRCode from 'qrcode/lib/core/qrcode.js';
import type { ErrorCorrection } from '../../events/style-shapes.ts';

export type Mask = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7;

/** The symbol without its quiet zone. */
export interface Matrix {
  /** Modules on a side. */
  readonly side: number;
  readonly level: ErrorCorrection;
  /** Whether a module is dark; outside the symbol everything is light. */
  isDark(x: number, y: number): boolean;
  /** Whether a module is part of a function pattern, and thus carries no data. */
  isFunction(x: number, y: number): boolean;
}

export const finderSide = 7;

/**
 * The symbol of a short URL in byte mode, by default of the smallest version. Tests fix the mask to compare images; by
 * default the best one is chosen.
 */
export function matrixOf(url: string, mask?: Mask, level: ErrorCorrection = 'M', version?: number): Matrix {
  const { modules } = QRCode.create([{ data: new TextEncoder().encode(url), mode: 'byte' }], {
    errorCorrectionLevel: level,
    maskPattern: mask,
    version,
  });
  const { size: side, data, reservedBit } = modules;
  const isInside = (x: number, y: number) => x >= 0 && y >= 0 && x < side && y < side;
  return {
    side,
    level,
    isDark: (x, y) => isInside(x, y) && data[y * side + x] === 1,
    isFunction: (x, y) => isInside(x, y) && reservedBit[y * side + x] === 1,
  };
}

/** The version of a symbol, from 1 to 40. */
export const versionOf = ({ side }: Pick<Matrix, 'side'>) => (side - 17) / 4;

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
