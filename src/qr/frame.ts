import type { Area } from './fill.ts';
import type { Margins } from './layout.ts';
import type { Path, Segment } from './path.ts';
import type { FrameLook } from './style.ts';
import { type FrameFont, textPath } from './text.ts';

/** What a frame paints, in this order. */
export interface FramePaths {
  readonly frame: Path;
  /** Empty without a text. */
  readonly text: Path;
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

/** `area` is the whole image. Without the font, which a browser loads later, there is no text. */
export function framePaths(frame: FrameLook, area: Area, side: number, font: FrameFont | undefined): FramePaths {
  const { border, band, arrow, radius } = measuresOf(side);
  const { x, y, width, height } = area;
  const bandTop = frame.type === 'label-top' ? y : y + height - band - (frame.type === 'box' ? border : 0);
  const bandArea = { x, y: bandTop, width, height: band };
  const text = font === undefined || frame.text === '' ? [] : labelPath(frame.text, bandArea, font);
  if (frame.type === 'bubble') {
    const middle = x + width / 2;
    const corner = Math.min(radius, band / 2);
    const arrowPath: Path = [
      { kind: 'move', x: middle - arrow, y: bandTop },
      { kind: 'line', x: middle, y: bandTop - arrow },
      { kind: 'line', x: middle + arrow, y: bandTop },
      { kind: 'close' },
    ];
    return { frame: [...arrowPath, ...rectPath(bandArea, equal(corner))], text };
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
  return { frame: [...rectPath(area, equal(radius)), ...rectPath(hole, holeRadii, true)], text };
}

function labelPath(text: string, band: Area, font: FrameFont): Path {
  const [padX, padY] = [band.height / 2.5, band.height / 6];
  const area = { x: band.x + padX, y: band.y + padY, width: band.width - 2 * padX, height: band.height - 2 * padY };
  return textPath(text, area, band.height * 0.42, font);
}

/** Corner radii, clockwise from the top left. */
type Radii = readonly [number, number, number, number];
const equal = (radius: number): Radii => [radius, radius, radius, radius];

/** A rectangle with rounded corners, clockwise; a hole counterclockwise, so that no fill rule is needed. */
export function rectPath({ x, y, width, height }: Area, radii: Radii, isHole = false): Path {
  const [tl, tr, br, bl] = radii;
  const [right, bottom] = [x + width, y + height];
  // Each corner with the points before and after it, clockwise.
  const corners = [
    { from: { x: right - tr, y }, at: { x: right, y }, to: { x: right, y: y + tr } },
    { from: { x: right, y: bottom - br }, at: { x: right, y: bottom }, to: { x: right - br, y: bottom } },
    { from: { x: x + bl, y: bottom }, at: { x, y: bottom }, to: { x, y: bottom - bl } },
    { from: { x, y: y + tl }, at: { x, y }, to: { x: x + tl, y } },
  ];
  const inOrder = isHole ? corners.toReversed().map(({ from, at, to }) => ({ from: to, at, to: from })) : corners;
  const start: Segment = { kind: 'move', ...(inOrder.at(-1) as (typeof corners)[number]).to };
  const sides = inOrder.flatMap(({ from, at, to }): Segment[] => {
    const side: Segment = { kind: 'line', x: from.x, y: from.y };
    if (from.x === to.x && from.y === to.y) return [side];
    return [side, { kind: 'corner', x1: at.x, y1: at.y, x: to.x, y: to.y }];
  });
  return [start, ...sides, { kind: 'close' }];
}
