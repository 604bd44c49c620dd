/// <reference path="./qrcode-internals.d.ts" />
import blocks from 'qrcode/lib/core/error-correction-code.js';
import levels from 'qrcode/lib/core/error-correction-level.js';
import QRCode from 'qrcode/lib/core/qrcode.js';
import ReedSolomonEncoder from 'qrcode/lib/core/reed-solomon-encoder.js';
import utils from 'qrcode/lib/core/utils.js';
import type { ErrorCorrection } from '../../events/style-shapes.ts';
import { isAscii, maxVersion } from './capacity.ts';
import { dataModules } from './codewords.ts';
import { type Mask, type Matrix, matrixOf } from './matrix.ts';

/** How a text becomes a symbol. */
export interface SymbolOptions {
  mask?: Mask | undefined;
  level: ErrorCorrection;
  /** By default the smallest one. */
  version?: number | undefined;
  /** Whether the symbol says that a text beyond ASCII is UTF-8. */
  declaresUtf8?: boolean | undefined;
}

/**
 * The symbol of a text. By the standard a text is Latin-1 unless the symbol says otherwise, and scanners guess: zbar takes short
 * UTF-8 for Big5 or Shift JIS. The encoder cannot say it (an ECI header), so the codewords are made here, and put into a
 * symbol of the same version, level and mask. Links stay as they were printed.
 */
export function symbolMatrix(text: string, options: SymbolOptions): Matrix {
  const { mask, level, version, declaresUtf8 = false } = options;
  if (!declaresUtf8 || isAscii(text)) return matrixOf(text, mask, level, version);
  const bytes = new TextEncoder().encode(text);
  const chosen = version ?? smallestVersion(bytes.length, level);
  // Any content that fits: only its patterns, its format and its mask stay.
  const content = [{ data: bytes.subarray(0, 1), mode: 'byte' as const }];
  const drawn = QRCode.create(content, { errorCorrectionLevel: level, maskPattern: mask, version: chosen });
  const { size: side, data, reservedBit } = drawn.modules;
  const isInside = (x: number, y: number) => x >= 0 && y >= 0 && x < side && y < side;
  const modules = Uint8Array.from(data);
  const matrix: Matrix = {
    side,
    level,
    isDark: (x, y) => isInside(x, y) && modules[y * side + x] === 1,
    isFunction: (x, y) => isInside(x, y) && reservedBit[y * side + x] === 1,
  };
  const codewords = codewordsOf(bytes, chosen, level);
  const isMasked = masks[drawn.maskPattern ?? 0] ?? (() => false);
  let bit = 0;
  for (const { x, y } of dataModules(matrix)) {
    const value = ((codewords[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1;
    modules[y * side + x] = value ^ Number(isMasked(y, x));
    bit++;
  }
  return matrix;
}

/** ISO/IEC 18004, table 10: whether a mask inverts the module of a row and column. */
const masks: ((row: number, column: number) => boolean)[] = [
  (i, j) => (i + j) % 2 === 0,
  (i) => i % 2 === 0,
  (_, j) => j % 3 === 0,
  (i, j) => (i + j) % 3 === 0,
  (i, j) => (Math.floor(i / 2) + Math.floor(j / 3)) % 2 === 0,
  (i, j) => ((i * j) % 2) + ((i * j) % 3) === 0,
  (i, j) => (((i * j) % 2) + ((i * j) % 3)) % 2 === 0,
  (i, j) => (((i + j) % 2) + ((i * j) % 3)) % 2 === 0,
];

const countBits = (version: number) => (version < 10 ? 8 : 16);
/** The mode and the number of UTF-8, then the mode of bytes. */
const headerBits = 4 + 8 + 4;

const dataCodewords = (version: number, level: ErrorCorrection) =>
  utils.getSymbolTotalCodewords(version) - blocks.getTotalCodewordsCount(version, levels[level]);

function smallestVersion(bytes: number, level: ErrorCorrection): number {
  for (let version = 1; version <= maxVersion; version++)
    if (headerBits + countBits(version) + 8 * bytes <= 8 * dataCodewords(version, level)) return version;
  throw new RangeError('the text is too long for a QR code');
}

/** Data and error correction of all blocks, in the order in which they are placed. */
function codewordsOf(bytes: Uint8Array, version: number, level: ErrorCorrection): number[] {
  const data = dataOf(bytes, version, dataCodewords(version, level));
  const total = utils.getSymbolTotalCodewords(version);
  const count = blocks.getBlocksCount(version, levels[level]);
  const shortLength = Math.floor(data.length / count);
  const encoder = new ReedSolomonEncoder(Math.floor(total / count) - shortLength);
  let from = 0;
  const parts = Array.from({ length: count }, (_, block) => {
    const part = data.subarray(from, from + shortLength + (block < count - (total % count) ? 0 : 1));
    from += part.length;
    return { part, correction: encoder.encode(part) };
  });
  const interleaved = (lists: readonly Uint8Array[]) =>
    Array.from({ length: Math.max(...lists.map(({ length }) => length)) }, (_, i) =>
      lists.flatMap((list) => list[i] ?? []),
    ).flat();
  return [...interleaved(parts.map(({ part }) => part)), ...interleaved(parts.map(({ correction }) => correction))];
}

function dataOf(bytes: Uint8Array, version: number, length: number): Uint8Array {
  const data = new Uint8Array(length);
  let at = 0;
  const put = (value: number, bits: number) => {
    for (let i = bits - 1; i >= 0; i--, at++)
      data[at >> 3] = (data[at >> 3] as number) | (((value >> i) & 1) << (7 - (at & 7)));
  };
  put(0b0111, 4);
  put(26, 8);
  put(0b0100, 4);
  put(bytes.length, countBits(version));
  for (const byte of bytes) put(byte, 8);
  // The end, as far as there is room, and what fills the rest.
  const used = Math.ceil(Math.min(at + 4, length * 8) / 8);
  for (let i = used; i < length; i++) data[i] = (i - used) % 2 === 0 ? 0xec : 0x11;
  return data;
}
