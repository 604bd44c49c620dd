import { errorCorrectionLevels } from '../../events/style-shapes.ts';
import { damageOf } from './codewords.ts';
import type { Area } from './fill.ts';
import { type Mask, type Matrix, matrixOf, versionOf } from './matrix.ts';
import type { LogoLook, Look } from './style.ts';

/** The logo does not fit into the symbol, whatever the error correction level is. */
export class LogoTooLarge extends RangeError {}

/** A logo in the center of a symbol, in modules from the symbol's top-left corner. */
export interface PlacedLogo {
  /** The picture itself. */
  readonly box: Area;
  /** The shape behind it, which includes the margin; undefined for shape none. */
  readonly plate: { readonly shape: 'square' | 'circle'; readonly area: Area } | undefined;
  isLeftOut(x: number, y: number): boolean;
}

export type Proportions = Pick<Area, 'width' | 'height'>;

/** A larger symbol than the text needs has smaller modules, so that a logo of the same share cuts fewer codewords. */
const maxAddedVersions = 3;

/**
 * The symbol of a short URL with the least error correction level that the style allows and its logo needs. In a very
 * small symbol, a large logo also needs a larger version.
 */
export function symbolOf(
  url: string,
  look: Look,
  proportions: Proportions | undefined,
  mask?: Mask,
): { matrix: Matrix; placed: PlacedLogo | undefined; damage: number } {
  const { logo } = look;
  if (logo === undefined || proportions === undefined)
    return { matrix: matrixOf(url, mask, look.errorCorrection), placed: undefined, damage: 0 };
  for (const matrix of candidates(url, look, mask)) {
    const placed = placeLogo(matrix, logo, proportions);
    if (coversPatterns(matrix, placed)) continue;
    const damage = damageOf(matrix, placed.isLeftOut);
    if (damage <= 1) return { matrix, placed, damage };
  }
  throw new LogoTooLarge('the logo hides more of the code than error correction can restore');
}

function* candidates(url: string, { errorCorrection }: Look, mask: Mask | undefined): Generator<Matrix> {
  for (const level of errorCorrectionLevels.slice(errorCorrectionLevels.indexOf(errorCorrection)))
    yield matrixOf(url, mask, level);
  const smallest = versionOf(matrixOf(url, mask, 'H'));
  for (let added = 1; added <= maxAddedVersions; added++) yield matrixOf(url, mask, 'H', smallest + added);
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
