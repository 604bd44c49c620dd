import { type Area, rounded } from './fill.ts';
import type { Margins } from './layout.ts';
import type { FrameLook } from './style.ts';
import { type FrameFont, textPath } from './text.ts';

/** What a frame paints, in this order. */
export interface FramePaths {
  readonly frame: string;
  readonly text: string;
}

interface Measures {
  readonly border: number;
  /** The height of the part with the text. */
  readonly band: number;
  /** The height of the arrow of a bubble. */
  readonly arrow: number;
  readonly radius: number;
}

/** In whole modules, so that the pixels of the symbol stay sharp. */
function measuresOf(side: number): Measures {
  return {
    border: Math.max(1, Math.round(side / 40)),
    band: Math.round(side / 4.5),
    arrow: Math.round(side / 14),
    radius: Math.max(1.5, side / 16),
  };
}

/** The space that a frame adds around the quiet zone. */
export function frameMargins(frame: FrameLook | undefined, side: number, quietZone: number): Margins {
  const { border, band, arrow } = measuresOf(side);
  if (frame === undefined) return { quietZone, left: 0, right: 0, top: 0, bottom: 0 };
  if (frame.type === 'bubble') return { quietZone, left: 0, right: 0, top: 0, bottom: band + arrow };
  const sides = { quietZone, left: border, right: border, top: border, bottom: border };
  if (frame.type === 'label-top') return { ...sides, top: band };
  if (frame.type === 'label-bottom') return { ...sides, bottom: band };
  // The quiet zone is part of the space around the text.
  return frame.text === '' ? sides : { ...sides, bottom: border + band - Math.min(quietZone, 2) };
}

/** `area` is the whole picture. Without the font, which a browser loads later, there is no text. */
export function framePaths(frame: FrameLook, area: Area, side: number, font: FrameFont | undefined): FramePaths {
  const { border, band, arrow, radius } = measuresOf(side);
  const { x, y, width, height } = area;
  const bandTop = frame.type === 'label-top' ? y : y + height - band - (frame.type === 'box' ? border : 0);
  const bandArea = { x, y: bandTop, width, height: band };
  const text = font === undefined || frame.text === '' ? '' : labelPath(frame.text, bandArea, font);
  if (frame.type === 'bubble') {
    const middle = x + width / 2;
    const corner = Math.min(radius, band / 2);
    const arrowPath = `M${pair(middle - arrow, bandTop)}L${pair(middle, bandTop - arrow)}L${pair(middle + arrow, bandTop)}z`;
    return { frame: arrowPath + rectPath(bandArea, equal(corner)), text };
  }
  const inset = (top: number, bottom: number): Area => ({
    x: x + border,
    y: y + top,
    width: width - 2 * border,
    height: height - top - bottom,
  });
  const hole =
    frame.type === 'label-top'
      ? inset(band, border)
      : frame.type === 'label-bottom'
        ? inset(border, band)
        : inset(border, border);
  const inner = Math.max(0, radius - border);
  const atBand = Math.min(inner, 0.5);
  const holeRadii: Radii =
    frame.type === 'label-top'
      ? [atBand, atBand, inner, inner]
      : frame.type === 'label-bottom'
        ? [inner, inner, atBand, atBand]
        : equal(inner);
  return { frame: rectPath(area, equal(radius)) + rectPath(hole, holeRadii, true), text };
}

function labelPath(text: string, band: Area, font: FrameFont): string {
  const [padX, padY] = [band.height / 2.5, band.height / 6];
  const area = { x: band.x + padX, y: band.y + padY, width: band.width - 2 * padX, height: band.height - 2 * padY };
  return textPath(text, area, band.height * 0.42, font);
}

/** Corner radii, clockwise from the top left. */
type Radii = readonly [number, number, number, number];
const equal = (radius: number): Radii => [radius, radius, radius, radius];

/** A rectangle with rounded corners, clockwise; a hole counterclockwise, so that no fill rule is needed. */
export function rectPath({ x, y, width, height }: Area, radii: Radii, isHole = false): string {
  const [tl, tr, br, bl] = radii;
  const [right, bottom] = [x + width, y + height];
  const arc = (radius: number, toX: number, toY: number) =>
    radius === 0 ? '' : `A${pair(radius, radius)} 0 0 ${isHole ? 0 : 1} ${pair(toX, toY)}`;
  const line = (toX: number, toY: number) => `L${pair(toX, toY)}`;
  if (isHole)
    return [
      `M${pair(x + tl, y)}`,
      arc(tl, x, y + tl),
      line(x, bottom - bl),
      arc(bl, x + bl, bottom),
      line(right - br, bottom),
      arc(br, right, bottom - br),
      line(right, y + tr),
      arc(tr, right - tr, y),
      'z',
    ].join('');
  return [
    `M${pair(x + tl, y)}`,
    line(right - tr, y),
    arc(tr, right, y + tr),
    line(right, bottom - br),
    arc(br, right - br, bottom),
    line(x + bl, bottom),
    arc(bl, x, bottom - bl),
    line(x, y + tl),
    arc(tl, x + tl, y),
    'z',
  ].join('');
}

const pair = (x: number, y: number) => `${rounded(x)} ${rounded(y)}`;
