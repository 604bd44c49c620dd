/** Limits of pictures with a physical size. Apart from their drawing, so that the console can use them. */
export const minWidthMm = 5;
export const maxWidthMm = 1000;
export const defaultWidthMm = 50;
export const minDpi = 72;
export const maxDpi = 1200;
export const defaultDpi = 300;

/** The widest PNG with a physical size, in pixels: 347 mm at 300 dpi. Drawing one with a frame takes 150 MB for a moment. */
export const maxPrintSizePx = 4096;

/** The width of a PNG in pixels. */
export const pixelsOf = (widthMm: number, dpi: number): number => Math.round((widthMm * dpi) / 25.4);
