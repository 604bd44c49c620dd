/** Names in the style of a code's image. Apart from the schema, so that the console's bundle does not contain TypeBox. */
export const dotsTypes = ['square', 'dots', 'rounded', 'extra-rounded', 'classy', 'classy-rounded'] as const;
export const cornersSquareTypes = ['square', 'dot', 'extra-rounded'] as const;
export const cornersDotTypes = ['square', 'dot'] as const;
export const gradientTypes = ['linear', 'radial'] as const;
export const frameTypes = ['none', 'box', 'label-top', 'label-bottom', 'bubble'] as const;
export const logoShapes = ['none', 'square', 'circle'] as const;
/** From the one that corrects least to the one that corrects most. */
export const errorCorrectionLevels = ['L', 'M', 'Q', 'H'] as const;

export type DotsType = (typeof dotsTypes)[number];
export type CornersSquareType = (typeof cornersSquareTypes)[number];
export type CornersDotType = (typeof cornersDotTypes)[number];
export type FrameType = (typeof frameTypes)[number];
export type LogoShape = (typeof logoShapes)[number];
export type ErrorCorrection = (typeof errorCorrectionLevels)[number];

export const defaultQuietZone = 4;
export const maxQuietZone = 10;
export const minLogoSize = 0.1;
export const maxLogoSize = 0.3;
export const defaultLogoSize = 0.2;
export const maxLogoMargin = 10;
export const defaultLogoMargin = 1;
export const maxFrameTextLength = 40;
export const defaultFrameText = 'Scan me';
export const maxColorStops = 10;
