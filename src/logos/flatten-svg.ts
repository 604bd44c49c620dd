import type { Fill, GradientFill, Stop } from '../qr/fill.ts';
import type { LogoPath, LogoStroke, VectorLogo } from '../qr/logo-art.ts';
import type { CubicPath } from '../qr/path.ts';
import { BadImage } from './bytes.ts';
import { type Box, boundsOf, lengthOf, readPath, storedPath, transformed } from './logo-path.ts';
import { svgLimits } from './svg-rules.ts';
import { apply, identity, type Matrix, multiply, parseMatrix, scaleOf } from './transform.ts';
import { parseXml, type XmlElement } from './xml.ts';

/** The longer side of the box of a vector logo, in its own units. */
const boxSide = 1000;

interface State {
  matrix: Matrix;
  opacity: number;
  clips: NonNullable<LogoPath['clips']>;
}

/**
 * Turns the simplified SVG that resvg writes (only groups, paths, gradients and clip paths, with all styles resolved) into
 * a list of paths.
 */
export function flattenSvg(svg: string): VectorLogo {
  const root = parseXml(svg, { maxElements: 4 * svgLimits.maxExpandedElements, maxDepth: 256 });
  const [left, top, width, height] = numbers(root.attributes.get('viewBox') ?? '');
  if (!(width > 0 && height > 0)) throw new BadImage('has no width or height');
  const scale = boxSide / Math.max(width, height);
  const definitions = new Map<string, XmlElement>();
  const collect = (element: XmlElement) => {
    const id = element.attributes.get('id');
    if (id !== undefined) definitions.set(id, element);
    element.children.forEach(collect);
  };
  collect(root);
  const flattener = new Flattener(definitions, { width: width * scale, height: height * scale });
  flattener.walk(root.children, { matrix: [scale, 0, 0, scale, -left * scale, -top * scale], opacity: 1, clips: [] });
  if (flattener.paths.length === 0) throw new BadImage('shows nothing');
  return { kind: 'vector', width: round(width * scale), height: round(height * scale), paths: flattener.paths };
}

class Flattener {
  readonly paths: LogoPath[] = [];
  #characters = 0;
  #dashes = 0;
  #layers = 0;
  #clipCharacters = 0;
  readonly #definitions: ReadonlyMap<string, XmlElement>;
  readonly #box: { width: number; height: number };

  constructor(definitions: ReadonlyMap<string, XmlElement>, box: { width: number; height: number }) {
    this.#definitions = definitions;
    this.#box = box;
  }

  walk(elements: readonly XmlElement[], state: State): void {
    for (const element of elements) {
      if (element.name === 'defs') continue;
      if (element.attributes.has('filter') || element.attributes.has('mask'))
        throw new BadImage('contains a filter effect or a mask');
      const inner = this.#enter(element, state);
      if (element.name === 'g') this.walk(element.children, inner);
      else if (element.name === 'path') this.#add(element, inner);
      else throw new BadImage(`contains the element ${element.name}, which a logo cannot have`);
    }
  }

  #enter({ attributes }: XmlElement, state: State): State {
    const matrix = multiply(state.matrix, parseMatrix(attributes.get('transform')));
    const clip = referenceOf(attributes.get('clip-path'));
    return {
      matrix,
      opacity: state.opacity * Number(attributes.get('opacity') ?? 1),
      clips: clip === undefined ? state.clips : [...state.clips, ...this.#clipsOf(clip, matrix)],
    };
  }

  /** A clip path is the union of its paths, and may itself be clipped. */
  #clipsOf(id: string, matrix: Matrix, depth = 0): NonNullable<LogoPath['clips']> {
    const element = this.#definitions.get(id);
    if (element?.name !== 'clipPath' || depth > 8) throw new BadImage('has a clip path that cannot be used');
    const own = multiply(matrix, parseMatrix(element.attributes.get('transform')));
    const parts: string[] = [];
    let rule: 'evenodd' | undefined;
    const walk = (children: readonly XmlElement[], outer: Matrix) => {
      for (const child of children) {
        const inner = multiply(outer, parseMatrix(child.attributes.get('transform')));
        if (child.name === 'g') walk(child.children, inner);
        if (child.name !== 'path') continue;
        if (child.attributes.get('clip-rule') === 'evenodd') rule = 'evenodd';
        parts.push(this.#written(transformed(readPath(child.attributes.get('d') ?? ''), inner)));
      }
    };
    walk(element.children, own);
    const clip = { d: parts.join(' '), ...(rule === undefined ? {} : { rule }) };
    const outer = referenceOf(element.attributes.get('clip-path'));
    return outer === undefined ? [clip] : [...this.#clipsOf(outer, matrix, depth + 1), clip];
  }

  #add({ attributes }: XmlElement, { matrix, opacity, clips }: State): void {
    if (this.paths.length === svgLimits.maxPaths) throw new BadImage(`has more than ${svgLimits.maxPaths} paths`);
    const local = readPath(attributes.get('d') ?? '');
    const path = transformed(local, matrix);
    const bounds = boundsOf(local);
    const fillOpacity = Number(attributes.get('fill-opacity') ?? 1);
    const fill = this.#paint(attributes.get('fill') ?? '#000000', matrix, bounds);
    const stroke = this.#strokeOf(attributes, matrix, bounds, lengthOf(path));
    const strokeOpacity = Number(attributes.get('stroke-opacity') ?? 1);
    this.#payFor(path, (stroke?.width ?? 0) / 2, opacity, clips);
    const d = this.#written(path);
    const common = { d, ...(clips.length === 0 ? {} : { clips }) };
    const faded = (share: number) => (opacity * share >= 1 ? {} : { opacity: round(opacity * share) });
    const rule = attributes.get('fill-rule') === 'evenodd' ? { fillRule: 'evenodd' as const } : {};
    if (fill !== undefined) this.paths.push({ ...common, fill, ...rule, ...faded(fillOpacity) });
    if (stroke !== undefined) this.paths.push({ ...common, stroke, ...faded(strokeOpacity) });
  }

  /** Refuses what would take too long to draw. */
  #payFor(path: CubicPath, margin: number, opacity: number, clips: State['clips']): void {
    const { x, y, width, height } = boundsOf(path);
    const part = (from: number, length: number, side: number) =>
      Math.max(0, Math.min(side, from + length + margin) - Math.max(0, from - margin)) / side;
    const share = part(x, width, this.#box.width) * part(y, height, this.#box.height);
    this.#layers += share * (clips.length > 0 || opacity < 1 ? 3 : 1);
    if (this.#layers > svgLimits.maxLayers)
      throw new BadImage(`paints its area more than ${svgLimits.maxLayers} times over: merge its layers`);
    for (const { d } of clips) this.#clipCharacters += d.length;
    if (this.#clipCharacters > svgLimits.maxClipCharacters)
      throw new BadImage('has clip paths that are too detailed for the number of paths in them: simplify them');
  }

  #strokeOf(
    attributes: ReadonlyMap<string, string>,
    matrix: Matrix,
    bounds: Box,
    length: number,
  ): LogoStroke | undefined {
    const color = this.#paint(attributes.get('stroke') ?? 'none', matrix, bounds);
    const scale = scaleOf(matrix);
    const width = Number(attributes.get('stroke-width') ?? 1) * scale;
    if (color === undefined || !(width > 0)) return undefined;
    const cap = attributes.get('stroke-linecap');
    const join = attributes.get('stroke-linejoin');
    const miterLimit = attributes.get('stroke-miterlimit');
    const dashes = numbers(attributes.get('stroke-dasharray') ?? '').map((dash) => round(dash * scale));
    const period = dashes.reduce((sum, dash) => sum + dash, 0);
    const isDashed = dashes.length > 0 && period > 0;
    if (isDashed) this.#dashes += (length / period) * dashes.length;
    if (this.#dashes > svgLimits.maxDashes) throw new BadImage(`has more than ${svgLimits.maxDashes} dashes`);
    return {
      color,
      width: round(width),
      ...(cap === 'round' || cap === 'square' ? { cap } : {}),
      ...(join === 'round' || join === 'bevel' ? { join } : {}),
      ...(miterLimit === undefined ? {} : { miterLimit: round(Number(miterLimit)) }),
      ...(isDashed ? { dashes, dashOffset: round(Number(attributes.get('stroke-dashoffset') ?? 0) * scale) } : {}),
    };
  }

  #paint(value: string, matrix: Matrix, bounds: Box): Fill | undefined {
    if (value === 'none') return undefined;
    if (/^#[0-9a-f]{6}$/i.test(value)) return value.toUpperCase();
    const element = this.#definitions.get(referenceOf(value) ?? '');
    if (element?.name !== 'linearGradient' && element?.name !== 'radialGradient')
      throw new BadImage('has a fill that cannot be used');
    return gradientOf(element, matrix, bounds);
  }

  #written(path: CubicPath): string {
    const d = storedPath(path);
    this.#characters += d.length;
    if (this.#characters > svgLimits.maxPathCharacters) throw new BadImage('is too detailed: simplify its paths');
    return d;
  }
}

function gradientOf({ name, attributes, children }: XmlElement, matrix: Matrix, bounds: Box): GradientFill {
  const isLocal = attributes.get('gradientUnits') === 'userSpaceOnUse';
  const toUser: Matrix = isLocal ? identity : [bounds.width, 0, 0, bounds.height, bounds.x, bounds.y];
  const whole = multiply(multiply(matrix, toUser), parseMatrix(attributes.get('gradientTransform')));
  const value = (key: string, fallback: number) => {
    const number = Number(attributes.get(key) ?? fallback);
    if (!Number.isFinite(number)) throw new BadImage('has a gradient that cannot be used');
    return number;
  };
  const stops = children.map(stopOf);
  if (name === 'radialGradient')
    return {
      type: 'radial',
      cx: value('cx', 0.5),
      cy: value('cy', 0.5),
      r: value('r', 0.5),
      transform: whole.map(round) as unknown as Matrix,
      stops,
    };
  const start = { x: value('x1', 0), y: value('y1', 0) };
  const end = { x: value('x2', 1), y: value('y2', 0) };
  const from = apply(whole, start);
  const to = apply(whole, end);
  // Lines of one color stay lines under the matrix, but no longer at a right angle to the gradient.
  const across = apply(whole, { x: start.x - (end.y - start.y), y: start.y + (end.x - start.x) });
  const [dx, dy] = [across.x - from.x, across.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  const [normalX, normalY] = [-dy / length, dx / length];
  const reach = (to.x - from.x) * normalX + (to.y - from.y) * normalY;
  return {
    type: 'linear',
    x1: round(from.x),
    y1: round(from.y),
    x2: round(from.x + normalX * reach),
    y2: round(from.y + normalY * reach),
    stops,
  };
}

function stopOf({ attributes }: XmlElement): Stop {
  const opacity = Number(attributes.get('stop-opacity') ?? 1);
  const color = attributes.get('stop-color') ?? '#000000';
  if (!/^#[0-9a-f]{6}$/i.test(color)) throw new BadImage('has a color that cannot be used');
  const offset = Math.min(1, Math.max(0, Number(attributes.get('offset') ?? 0)));
  return { offset: round(offset), color: color.toUpperCase(), ...(opacity >= 1 ? {} : { opacity: round(opacity) }) };
}

const referenceOf = (value: string | undefined) => /^url\(#(.+)\)$/.exec(value ?? '')?.[1];

function numbers(text: string): [number, number, number, number] {
  return text
    .split(/[\s,]+/)
    .filter((part) => part !== '')
    .map(Number) as [number, number, number, number];
}

function round(value: number): number {
  if (!Number.isFinite(value) || Math.abs(value) > 1e7) throw new BadImage('has a number that is too large');
  return Math.round(value * 1e4) / 1e4 + 0;
}
