/** Formats and limits of images. Apart from their drawing, so that the console can use them. */
export const imageFormats = ['png', 'svg', 'pdf', 'eps'] as const;
export type ImageFormat = (typeof imageFormats)[number];

/** Color spaces of files for print. */
export const inkSpaces = ['rgb', 'cmyk'] as const;
export type InkSpace = (typeof inkSpaces)[number];

/** Whether a format is for print: it has a physical size and inks in place of pixels. */
export const isPrintFormat = (format: ImageFormat): format is 'pdf' | 'eps' => format === 'pdf' || format === 'eps';

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

/** The least width in pixels for a file of several codes: large enough for the symbol of any short link, with a frame. */
export const minBundleSizePx = 256;
