import type { Gradient } from '../../events/style.ts';

export interface Stop {
  readonly offset: number;
  /** `#RRGGBB` */
  readonly color: string;
  /** From 0 to 1; only logos have others than 1. */
  readonly opacity?: number;
}

/** A gradient in the coordinates of what it fills. Before the first and after the last stop their color continues. */
export type GradientFill =
  | {
      readonly type: 'linear';
      readonly x1: number;
      readonly y1: number;
      readonly x2: number;
      readonly y2: number;
      readonly stops: readonly Stop[];
    }
  | {
      readonly type: 'radial';
      readonly cx: number;
      readonly cy: number;
      readonly r: number;
      /** `a b c d e f` of an SVG matrix, from the coordinates of the gradient to the coordinates of what it fills; only in logos. */
      readonly transform?: readonly [number, number, number, number, number, number];
      readonly stops: readonly Stop[];
    };

/** `#RRGGBB`, or a gradient. */
export type Fill = string | GradientFill;

export interface Area {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/**
 * Places a gradient over an area as `qr-code-styling` does: a linear one runs through the center and ends at the edges
 * of the area, a radial one ends at the farther edge.
 */
export function gradientFill({ type, rotation = 0, colorStops: stops }: Gradient, area: Area): GradientFill {
  const { x, y, width, height } = area;
  const [cx, cy] = [x + width / 2, y + height / 2];
  if (type === 'radial') return { type, cx, cy, r: Math.max(width, height) / 2, stops };
  const [dx, dy] = [Math.cos(rotation), Math.sin(rotation)];
  // To the vertical edges if the direction is more horizontal than vertical, else to the horizontal ones.
  const reach = Math.abs(dx) >= Math.abs(dy) ? width / 2 / Math.abs(dx) : height / 2 / Math.abs(dy);
  return {
    type,
    x1: rounded(cx - dx * reach),
    y1: rounded(cy - dy * reach),
    x2: rounded(cx + dx * reach),
    y2: rounded(cy + dy * reach),
    stops,
  };
}

/** Four decimals of a module are exact enough for every printed size, and keep documents short. */
export function rounded(value: number): number {
  return Math.round(value * 1e4) / 1e4 + 0;
}
