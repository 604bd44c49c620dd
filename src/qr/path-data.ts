import { rounded } from './fill.ts';
import type { CurveSegment, Path } from './path.ts';

/** The number of arguments of each command of SVG path data. resvg writes no others, and our font has no others. */
const argumentCounts: Readonly<Record<string, number>> = { M: 2, L: 2, H: 1, V: 1, Q: 4, C: 6, Z: 0 };

// `e` belongs to a number.
const commandAt = /([a-df-z])([^a-df-z]*)/gi;
const numberAt = /[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?/gi;

/**
 * Reads SVG path data without smooth curves and arcs. Throws a `RangeError` for anything else.
 *
 * @example
 * parsePath('m1 1h1v1z'); // move 1 1, line 2 1, line 2 2, close
 */
export function parsePath(data: string): CurveSegment[] {
  const reader = new PathReader();
  if (!/^\s*(m|$)/i.test(data)) throw notPathData();
  for (const [, letter = '', text = ''] of data.matchAll(commandAt)) {
    const command = letter.toUpperCase();
    const count = argumentCounts[command];
    const values = (text.match(numberAt) ?? []).map(Number);
    const isWhole = count === 0 ? values.length === 0 : values.length > 0 && values.length % (count ?? 0) === 0;
    const isClean = values.every(Number.isFinite) && !/[^\s,]/.test(text.replace(numberAt, ''));
    if (count === undefined || !isWhole || !isClean) throw notPathData();
    // Further arguments repeat the command; after a move they are lines.
    for (let at = 0; at < Math.max(values.length, 1); at += Math.max(count, 1))
      reader.read(command === 'M' && at > 0 ? 'L' : command, letter !== command, values.slice(at, at + count));
  }
  return reader.segments;
}

const notPathData = () => new RangeError('not path data');

class PathReader {
  readonly segments: CurveSegment[] = [];
  #x = 0;
  #y = 0;
  #startX = 0;
  #startY = 0;

  read(command: string, isRelative: boolean, values: readonly number[]): void {
    const segment = this.#segmentOf(command, isRelative, values);
    this.segments.push(segment);
    if (segment.kind === 'close') [this.#x, this.#y] = [this.#startX, this.#startY];
    else [this.#x, this.#y] = [segment.x, segment.y];
    if (segment.kind === 'move') [this.#startX, this.#startY] = [this.#x, this.#y];
  }

  #segmentOf(command: string, isRelative: boolean, values: readonly number[]): CurveSegment {
    const [originX, originY] = isRelative ? [this.#x, this.#y] : [0, 0];
    const x = (i: number) => originX + (values[i] as number);
    const y = (i: number) => originY + (values[i] as number);
    switch (command) {
      case 'M':
        return { kind: 'move', x: x(0), y: y(1) };
      case 'L':
        return { kind: 'line', x: x(0), y: y(1) };
      case 'H':
        return { kind: 'line', x: x(0), y: this.#y };
      case 'V':
        return { kind: 'line', x: this.#x, y: y(0) };
      case 'Q':
        return { kind: 'quadratic', x1: x(0), y1: y(1), x: x(2), y: y(3) };
      case 'C':
        return { kind: 'cubic', x1: x(0), y1: y(1), x2: x(2), y2: y(3), x: x(4), y: y(5) };
      default:
        return { kind: 'close' };
    }
  }
}

/** Writes a path as SVG path data: relative, which is shortest, with four decimals. */
export function writePathData(path: Path): string {
  // As written, so that rounding does not add up.
  let [penX, penY, startX, startY] = [0, 0, 0, 0];
  let data = '';
  const relative = (x: number, y: number) => pair(rounded(rounded(x) - penX), rounded(rounded(y) - penY));
  for (const segment of path) {
    if (segment.kind === 'close') {
      data += 'z';
      [penX, penY] = [startX, startY];
      continue;
    }
    const { x, y } = segment;
    switch (segment.kind) {
      case 'move':
        data += `M${pair(rounded(x), rounded(y))}`;
        [startX, startY] = [rounded(x), rounded(y)];
        break;
      case 'line':
        data += lineData(rounded(rounded(x) - penX), rounded(rounded(y) - penY));
        break;
      case 'quadratic':
        data += `q${joined(relative(segment.x1, segment.y1), relative(x, y))}`;
        break;
      case 'cubic':
        data += `c${joined(joined(relative(segment.x1, segment.y1), relative(segment.x2, segment.y2)), relative(x, y))}`;
        break;
      case 'corner': {
        const [inX, inY, outX, outY] = [segment.x1 - penX, segment.y1 - penY, x - segment.x1, y - segment.y1];
        const radius = rounded(Math.max(Math.abs(outX), Math.abs(outY)));
        data += `a${pair(radius, radius)} 0 0 ${inX * outY > inY * outX ? 1 : 0} ${relative(x, y)}`;
        break;
      }
      case 'circle': {
        const radius = rounded(segment.radius);
        const half = `a${pair(radius, radius)} 0 1 1`;
        data += `M${pair(rounded(x - radius), rounded(y))}${half} ${number(2 * radius)} 0${half}-${number(2 * radius)} 0z`;
      }
    }
    [penX, penY] = [rounded(x), rounded(y)];
  }
  return data;
}

function lineData(dx: number, dy: number): string {
  if (dy === 0) return dx === 0 ? '' : `h${number(dx)}`;
  return dx === 0 ? `v${number(dy)}` : `l${pair(dx, dy)}`;
}

const pair = (x: number, y: number): string => joined(number(x), number(y));

/** A minus sign separates numbers as well as a space. */
const joined = (before: string, after: string): string => `${before}${after.startsWith('-') ? '' : ' '}${after}`;

/** Without the zero before the point. */
function number(value: number): string {
  const text = String(value);
  if (Number.isInteger(value) || Math.abs(value) > 1) return text;
  return value < 0 ? `-${text.slice(2)}` : text.slice(1);
}
