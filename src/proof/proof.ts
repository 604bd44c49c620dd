import type { Style } from '../../events/style.ts';
import type { LogoArt } from '../qr/logo-art.ts';

/** Widths at which an image is proofed, in millimeters. */
export const proofSizesMm = [10, 15, 20, 30] as const;

/** Whether the text of the symbol is a short link, or the content of a static code. */
export type ProofSubject = 'link' | 'content';

export interface ProofRequest {
  style: Style;
  url: string;
  /** Default: link. */
  about?: ProofSubject;
  /** The image of `style.logo`. */
  logo?: LogoArt | undefined;
}

/** What a proof found out about a style. */
export interface Proof {
  /** Whether at least one decoder reads the undistorted print at one of the sizes. */
  readable: boolean;
  /** The smallest width from which on every decoder reads every view; null if there is none. */
  smallest_mm: number | null;
  /** Contrast ratio of the parts that differ least, as WCAG 2 defines it. */
  contrast: number;
  /** The share of the symbol that can be covered in one spot. */
  damage_tolerated: number;
  decoders: DecoderResult[];
  /** Why it is not readable at all, not by every decoder, or only when large. */
  reasons: Reason[];
}

export interface DecoderResult {
  name: string;
  /** The widths at which it reads the undistorted print. */
  reads_mm: number[];
  /** The smallest width from which on it reads every view. */
  smallest_mm: number | null;
}

export interface Reason {
  field: string;
  message: string;
}
