/** What an uploaded SVG may contain. Everything that is neither kept nor dropped refuses the file. */
export const keptElements = new Set([
  ...['svg', 'g', 'defs', 'symbol', 'use', 'clipPath', 'style', 'switch'],
  ...['path', 'rect', 'circle', 'ellipse', 'line', 'polyline', 'polygon'],
  ...['linearGradient', 'radialGradient', 'stop'],
]);

/** Elements that show nothing, and are dropped with their content. */
export const droppedElements = new Set(['title', 'desc', 'metadata']);

/** Why common elements are refused. */
export const refusedElements: Readonly<Record<string, string>> = {
  script: 'contains a script',
  foreignObject: 'contains a part that is not SVG (foreignObject)',
  image: 'contains an embedded image: upload that image itself, or an SVG of shapes only',
  text: 'contains text: convert it to paths first',
  tspan: 'contains text: convert it to paths first',
  textPath: 'contains text: convert it to paths first',
  filter: 'contains a filter effect',
  mask: 'contains a mask',
  pattern: 'contains a pattern',
  marker: 'contains a marker',
  a: 'contains a link',
  animate: 'is animated',
  animateMotion: 'is animated',
  animateTransform: 'is animated',
  set: 'is animated',
};

/** Attributes that are kept; others are dropped. */
export const keptAttributes = new Set([
  ...['id', 'class', 'style', 'transform', 'viewBox', 'preserveAspectRatio', 'overflow', 'display', 'visibility'],
  ...['x', 'y', 'width', 'height', 'rx', 'ry', 'cx', 'cy', 'r', 'x1', 'y1', 'x2', 'y2', 'fx', 'fy', 'd', 'points'],
  ...['fill', 'fill-opacity', 'fill-rule', 'stroke', 'stroke-opacity', 'stroke-width', 'stroke-linecap'],
  ...['stroke-linejoin', 'stroke-miterlimit', 'stroke-dasharray', 'stroke-dashoffset', 'opacity', 'color'],
  ...['clip-path', 'clip-rule', 'clipPathUnits', 'gradientUnits', 'gradientTransform', 'spreadMethod'],
  ...['offset', 'stop-color', 'stop-opacity', 'href', 'xlink:href'],
]);

/** Attributes of effects that are not supported, so that dropping them would change the image. */
export const refusedAttributes: Readonly<Record<string, string>> = {
  filter: 'contains a filter effect',
  mask: 'contains a mask',
};

export const svgLimits = {
  maxElements: 5_000,
  maxDepth: 32,
  /** Elements after every `use` is replaced by what it repeats. */
  maxExpandedElements: 20_000,
  maxPaths: 5_000,
  /** Also after every `use` is replaced by what it repeats. */
  maxPathCharacters: 1024 * 1024,
  /**
   * How often the image may paint over its whole area. One of these takes 6 ms in a PNG of 2,048 pixels; a path that is
   * clipped or translucent counts three times.
   */
  maxLayers: 250,
  /** Characters of the clip paths of all paths: each path is clipped by itself. */
  maxClipCharacters: 8 * 1024 * 1024,
  maxDashes: 10_000,
};
