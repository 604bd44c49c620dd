/** Shapes of the parts of a code's image. Apart from the schema, so that the console's bundle does not contain TypeBox. */
export const dotsTypes = ['square', 'dots', 'rounded', 'extra-rounded', 'classy', 'classy-rounded'] as const;
export const cornersSquareTypes = ['square', 'dot', 'extra-rounded'] as const;
export const cornersDotTypes = ['square', 'dot'] as const;

export type DotsType = (typeof dotsTypes)[number];
export type CornersSquareType = (typeof cornersSquareTypes)[number];
export type CornersDotType = (typeof cornersDotTypes)[number];
