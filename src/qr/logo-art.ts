import type { Fill } from './fill.ts';

/** A logo as it is stored: decoded, checked, and without metadata. */
export type LogoArt = RasterLogo | VectorLogo;

/** A PNG of 8-bit RGBA without metadata. */
export interface RasterLogo {
  readonly kind: 'raster';
  readonly width: number;
  readonly height: number;
  readonly png: Uint8Array<ArrayBuffer>;
}

/** Paths in the order in which they are painted, in a box from 0, 0 to `width`, `height`, beyond which nothing shows. */
export interface VectorLogo {
  readonly kind: 'vector';
  readonly width: number;
  readonly height: number;
  readonly paths: readonly LogoPath[];
}

/** A path whose data has only the absolute commands M, L, C and Z. It has a fill, a stroke, or both. */
export interface LogoPath {
  readonly d: string;
  readonly fill?: Fill;
  readonly fillRule?: 'evenodd';
  /** Of the whole path; 1 if missing. */
  readonly opacity?: number;
  readonly stroke?: LogoStroke;
  /** Path data of areas, each with M, L, C and Z: only what lies in all of them shows. */
  readonly clips?: readonly LogoClip[];
}

export interface LogoClip {
  readonly d: string;
  readonly rule?: 'evenodd';
}

export interface LogoStroke {
  readonly color: Fill;
  readonly width: number;
  readonly cap?: 'round' | 'square';
  readonly join?: 'round' | 'bevel';
  readonly miterLimit?: number;
  readonly dashes?: readonly number[];
  readonly dashOffset?: number;
}
