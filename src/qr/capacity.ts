import { type ErrorCorrection, errorCorrectionLevels } from '../../events/style-shapes.ts';

/** Bytes that the largest symbol (version 40, 177 modules on a side) has room for in byte mode (ISO/IEC 18004, table 7). */
const maxBytes: Readonly<Record<ErrorCorrection, number>> = { L: 2953, M: 2331, Q: 1663, H: 1273 };

export const maxVersion = 40;

export const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text);

/** A symbol that says that its text is UTF-8 has room for one byte less. */
const roomFor = (text: string, level: ErrorCorrection) => maxBytes[level] - (isAscii(text) ? 0 : 1);

export const byteLength = (text: string): number => new TextEncoder().encode(text).length;

/** Whether any symbol of the level has room for the text. */
export const fitsSymbol = (text: string, level: ErrorCorrection): boolean => byteLength(text) <= roomFor(text, level);

/**
 * What is wrong with the length of a text; undefined if a symbol has room for it.
 *
 * @example
 * problemWithLength('x'.repeat(2400), 'M'); // "has 2,400 bytes, 69 more than a QR code with error correction M …"
 */
export function problemWithLength(text: string, level: ErrorCorrection): string | undefined {
  const bytes = byteLength(text);
  const room = roomFor(text, level);
  if (bytes <= room) return undefined;
  const excess = counted(bytes - room);
  const lower = errorCorrectionLevels
    .slice(0, errorCorrectionLevels.indexOf(level))
    .find((one) => bytes <= roomFor(text, one));
  const advice =
    lower === undefined
      ? 'Shorten it'
      : `Shorten it, or set style.errorCorrection to ${lower} (${counted(roomFor(text, lower))} bytes)`;
  return `has ${counted(bytes)} bytes, ${excess} more than the largest QR code with error correction ${level} has room for (${counted(room)}). ${advice}`;
}

const counted = (count: number) => count.toLocaleString('en-US');
