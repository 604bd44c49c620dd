import { type ErrorCorrection, errorCorrectionLevels } from '../../events/style-shapes.ts';
import { lru } from '../lib/lru.ts';
import { fitsSymbol, maxVersion } from './capacity.ts';
import { damageOf } from './codewords.ts';
import { symbolMatrix } from './declared-text.ts';
import type { Area } from './fill.ts';
import { type Mask, type Matrix, versionOf } from './matrix.ts';
import type { LogoLook, Look } from './style.ts';

export const tooLarge = 'the logo hides more of the code than error correction can restore';

/** The logo does not fit into the symbol, whatever the error correction level is. */
export class LogoTooLarge extends RangeError {
  constructor() {
    super(tooLarge);
  }
}

/** A logo in the center of a symbol, in modules from the symbol's top-left corner. */
export interface PlacedLogo {
  /** The image itself. */
  readonly box: Area;
  /** The shape behind it, which includes the margin; undefined for shape none. */
  readonly plate: { readonly shape: 'square' | 'circle'; readonly area: Area } | undefined;
  isLeftOut(x: number, y: number): boolean;
}

export type Proportions = Pick<Area, 'width' | 'height'>;

/** A larger symbol than the text needs has smaller modules, so that a logo of the same share cuts fewer codewords. */
const maxAddedVersions = 3;

/** The symbol of a short URL, and where its logo is. Throws `LogoTooLarge`. */
export function symbolOf(
  url: string,
  look: Look,
  proportions: Proportions | undefined,
  mask?: Mask,
  declaresUtf8 = false,
): { matrix: Matrix; placed: PlacedLogo | undefined } {
  const { logo } = look;
  if (logo === undefined || proportions === undefined)
    return { matrix: symbolMatrix(url, { mask, level: look.errorCorrection, declaresUtf8 }), placed: undefined };
  const fitting = fittingSymbol(url, look, logo, proportions, declaresUtf8);
  if (fitting === undefined) throw new LogoTooLarge();
  const matrix = symbolMatrix(url, { mask, ...fitting, declaresUtf8 });
  return { matrix, placed: placeLogo(matrix, logo, proportions) };
}

/** Whether the symbol of a short URL, of which only the length matters, has room for the logo. */
export const hasRoom = (url: string, look: Look, proportions: Proportions): boolean =>
  look.logo === undefined || fittingSymbol(url, look, look.logo, proportions, false) !== undefined;

type Fitting = { level: ErrorCorrection; version: number } | undefined;

/** Codes that are created or drawn together mostly have the same logo, and links of the same length. */
const fittings = lru<string, { fitting: Fitting }>(1_000);

/**
 * The least error correction level that the style allows and its logo needs. In a very small symbol, a large logo also
 * needs a larger version. Undefined if the logo is too large.
 */
function fittingSymbol(
  url: string,
  { errorCorrection }: Look,
  logo: LogoLook,
  proportions: Proportions,
  declaresUtf8: boolean,
): Fitting {
  const { size, margin, shape } = logo;
  const bytes = new TextEncoder().encode(url).length;
  const key = [bytes, declaresUtf8, errorCorrection, size, margin, shape, proportions.width, proportions.height].join();
  const known = fittings.get(key);
  if (known !== undefined) return known.fitting;
  const fitting = findFitting(candidates(url, errorCorrection, declaresUtf8), logo, proportions);
  fittings.set(key, { fitting });
  return fitting;
}

function findFitting(matrices: Iterable<Matrix>, logo: LogoLook, proportions: Proportions): Fitting {
  for (const matrix of matrices) {
    const placed = placeLogo(matrix, logo, proportions);
    if (!coversPatterns(matrix, placed) && damageOf(matrix, placed.isLeftOut) <= 1)
      return { level: matrix.level, version: versionOf(matrix) };
  }
  return undefined;
}

/** The mask changes which modules are dark, not which codewords they belong to; with a given one nothing is searched. */
const anyMask = 0;

function* candidates(url: string, least: ErrorCorrection, declaresUtf8: boolean): Generator<Matrix> {
  const matrixAt = (level: ErrorCorrection, version?: number) =>
    symbolMatrix(url, { mask: anyMask, level, version, declaresUtf8 });
  const allowed = errorCorrectionLevels.slice(errorCorrectionLevels.indexOf(least));
  for (const level of allowed) if (fitsSymbol(url, level)) yield matrixAt(level);
  if (!fitsSymbol(url, 'H')) return;
  const smallest = versionOf(matrixAt('H'));
  const largest = Math.min(smallest + maxAddedVersions, maxVersion);
  for (let version = smallest + 1; version <= largest; version++) yield matrixAt('H', version);
}

function placeLogo({ side }: Matrix, logo: LogoLook, proportions: Proportions): PlacedLogo {
  const { size, margin, shape } = logo;
  const { width, height } = proportions;
  const extent = size * side;
  // In a circle the diagonal must fit, otherwise the longer side.
  const scale = extent / (shape === 'circle' ? Math.hypot(width, height) : Math.max(width, height));
  const box = centered(side, width * scale, height * scale);
  if (shape === 'circle') {
    const radius = extent / 2 + margin;
    return {
      box,
      plate: { shape, area: centered(side, 2 * radius, 2 * radius) },
      isLeftOut: (x, y) => distance(x, side / 2) ** 2 + distance(y, side / 2) ** 2 < radius ** 2 - epsilon,
    };
  }
  const area = centered(side, box.width + 2 * margin, box.height + 2 * margin);
  return {
    box,
    plate: shape === 'square' ? { shape, area } : undefined,
    isLeftOut: (x, y) => overlaps(x, area.x, area.width) && overlaps(y, area.y, area.height),
  };
}

/** Ignores overlaps that only rounding makes. */
const epsilon = 1e-6;

const overlaps = (module: number, start: number, length: number) =>
  module + 1 > start + epsilon && module < start + length - epsilon;

/** From a module to the center along one axis. */
const distance = (module: number, center: number) => Math.max(0, module - center, center - module - 1);

const centered = (side: number, width: number, height: number): Area => ({
  x: (side - width) / 2,
  y: (side - height) / 2,
  width,
  height,
});

/** Whether a logo hides a finder or timing pattern, format or version information, without which no code is read. */
function coversPatterns(matrix: Matrix, { isLeftOut }: PlacedLogo): boolean {
  for (let y = 0; y < matrix.side; y++)
    for (let x = 0; x < matrix.side; x++) if (isLeftOut(x, y) && isEssential(matrix, x, y)) return true;
  return false;
}

const timing = 6;
/** Finder pattern, its separator and the format information beside it. */
const cornerSide = 9;

/** All function patterns except alignment patterns, of which scanners need only the one at the bottom right. */
function isEssential(matrix: Matrix, x: number, y: number): boolean {
  if (!matrix.isFunction(x, y)) return false;
  const far = matrix.side - cornerSide;
  const isCorner = (x < cornerSide && (y < cornerSide || y >= far)) || (x >= far && y < cornerSide);
  const isBottomRight = x >= far && y >= far;
  const isVersion = versionOf(matrix) >= 7 && ((x >= far - 2 && y < timing) || (y >= far - 2 && x < timing));
  return x === timing || y === timing || isCorner || isBottomRight || isVersion;
}
