/** A step of an outline, in absolute coordinates. */
export type Segment =
  | { readonly kind: 'move' | 'line'; readonly x: number; readonly y: number }
  | {
      readonly kind: 'curve';
      readonly x1: number;
      readonly y1: number;
      readonly x2: number;
      readonly y2: number;
      readonly x: number;
      readonly y: number;
    }
  | { readonly kind: 'close' };

/** The number of arguments of each command of SVG path data. */
const argumentCounts: Record<string, number> = { M: 2, L: 2, H: 1, V: 1, C: 6, S: 4, Q: 4, T: 2, A: 7, Z: 0 };

/**
 * Reads SVG path data as moves, lines and cubic curves, which is all that PDF and PostScript have. Throws a `RangeError`
 * for anything else.
 *
 * @example
 * segmentsOf('M0 0h1v1z'); // move 0 0, line 1 0, line 1 1, close
 */
export function segmentsOf(data: string): Segment[] {
  const pen = new Pen();
  const scanner = new Scanner(data);
  let command = '';
  while (!scanner.isAtEnd()) {
    const given = scanner.command();
    // Further arguments repeat the command; after a move they are lines.
    if (given !== undefined) command = given;
    else if (command === 'M') command = 'L';
    else if (command === 'm') command = 'l';
    const name = command.toUpperCase();
    const count = argumentCounts[name];
    if (count === undefined || (given === undefined && count === 0)) throw scanner.error();
    const values: number[] = [];
    for (let i = 0; i < count; i++)
      values.push(name === 'A' && (i === 3 || i === 4) ? scanner.flag() : scanner.number());
    pen.draw(name, command !== name, values);
  }
  return pen.segments;
}

const numberAt = /[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y;
const [tab, newLine, carriageReturn, space, comma] = [9, 10, 13, 32, 44];
const [plus, minus, point, zero, nine, upperE, lowerE] = [43, 45, 46, 48, 57, 69, 101];
const maxExactDigits = 15;
const powersOfTen = Array.from({ length: maxExactDigits + 1 }, (_, i) => 10 ** i);

/** Reads path data from left to right. */
class Scanner {
  readonly #data: string;
  #at = 0;

  constructor(data: string) {
    this.#data = data;
  }

  isAtEnd(): boolean {
    this.#skipSeparators();
    return this.#at >= this.#data.length;
  }

  /** The letter of a command, if one follows. */
  command(): string | undefined {
    const letter = this.#data.charAt(this.#at);
    if (argumentCounts[letter.toUpperCase()] === undefined) return undefined;
    this.#at++;
    return letter;
  }

  number(): number {
    this.#skipSeparators();
    const short = this.#shortNumber();
    if (short !== undefined) return short;
    numberAt.lastIndex = this.#at;
    if (!numberAt.test(this.#data)) throw this.error();
    const text = this.#data.slice(this.#at, numberAt.lastIndex);
    this.#at = numberAt.lastIndex;
    return Number(text);
  }

  /**
   * A number of up to 15 digits without exponent, as symbols have them; undefined for anything else. It equals what
   * `Number` makes of the text, in a tenth of the time: digits and divisor are exact, and the division rounds once.
   */
  #shortNumber(): number | undefined {
    let at = this.#at;
    const sign = this.#data.charCodeAt(at);
    if (sign === minus || sign === plus) at++;
    const start = at;
    let pointAt = -1;
    let digits = 0;
    for (; ; at++) {
      const code = this.#data.charCodeAt(at);
      if (code >= zero && code <= nine) digits = digits * 10 + (code - zero);
      else if (code === point && pointAt === -1) pointAt = at;
      else if (code === upperE || code === lowerE) return undefined;
      else break;
    }
    const count = at - start - (pointAt === -1 ? 0 : 1);
    if (count === 0 || count > maxExactDigits) return undefined;
    this.#at = at;
    const value = pointAt === -1 ? digits : digits / (powersOfTen[at - pointAt - 1] as number);
    return sign === minus ? -value : value;
  }

  /** A flag of an arc, which needs no separator after it. */
  flag(): number {
    this.#skipSeparators();
    const digit = this.#data.charAt(this.#at);
    if (digit !== '0' && digit !== '1') throw this.error();
    this.#at++;
    return Number(digit);
  }

  error(): RangeError {
    return new RangeError(`not path data at ${this.#at}`);
  }

  #skipSeparators(): void {
    for (;;) {
      const code = this.#data.charCodeAt(this.#at);
      if (code !== space && code !== comma && code !== newLine && code !== tab && code !== carriageReturn) return;
      this.#at++;
    }
  }
}

/** Follows the commands of a path. */
class Pen {
  readonly segments: Segment[] = [];
  #x = 0;
  #y = 0;
  #startX = 0;
  #startY = 0;
  /** The last control point, which smooth curves reflect, and the kind of curve that it belongs to. */
  #control: { kind: 'cubic' | 'quadratic'; x: number; y: number } | undefined;

  draw(name: string, isRelative: boolean, values: readonly number[]): void {
    const [originX, originY] = isRelative ? [this.#x, this.#y] : [0, 0];
    const x = (i: number) => originX + (values[i] ?? 0);
    const y = (i: number) => originY + (values[i] ?? 0);
    const control = this.#control;
    this.#control = undefined;
    switch (name) {
      case 'M':
        this.#moveTo(x(0), y(1));
        [this.#startX, this.#startY] = [this.#x, this.#y];
        return;
      case 'L':
        this.#lineTo(x(0), y(1));
        return;
      case 'H':
        this.#lineTo(x(0), this.#y);
        return;
      case 'V':
        this.#lineTo(this.#x, y(0));
        return;
      case 'C':
        this.#curveTo(x(0), y(1), x(2), y(3), x(4), y(5));
        return;
      case 'S': {
        const [x1, y1] = this.#reflected(control, 'cubic');
        this.#curveTo(x1, y1, x(0), y(1), x(2), y(3));
        return;
      }
      case 'Q':
        this.#quadraticTo(x(0), y(1), x(2), y(3));
        return;
      case 'T': {
        const [x1, y1] = this.#reflected(control, 'quadratic');
        this.#quadraticTo(x1, y1, x(0), y(1));
        return;
      }
      case 'A': {
        const [rx = 0, ry = 0, degrees = 0, isLarge, isClockwise] = values;
        const [dx, dy] = [x(5) - this.#x, y(6) - this.#y];
        this.#arcTo(Math.abs(rx), Math.abs(ry), degrees, isLarge === 1, isClockwise === 1, dx, dy);
        return;
      }
      default:
        this.segments.push({ kind: 'close' });
        [this.#x, this.#y] = [this.#startX, this.#startY];
    }
  }

  #moveTo(x: number, y: number): void {
    this.segments.push({ kind: 'move', x, y });
    [this.#x, this.#y] = [x, y];
  }

  #lineTo(x: number, y: number): void {
    this.segments.push({ kind: 'line', x, y });
    [this.#x, this.#y] = [x, y];
  }

  #curveTo(x1: number, y1: number, x2: number, y2: number, x: number, y: number): void {
    this.segments.push({ kind: 'curve', x1, y1, x2, y2, x, y });
    this.#control = { kind: 'cubic', x: x2, y: y2 };
    [this.#x, this.#y] = [x, y];
  }

  #quadraticTo(cx: number, cy: number, x: number, y: number): void {
    const third = (end: number, middle: number) => end + ((middle - end) * 2) / 3;
    this.#curveTo(third(this.#x, cx), third(this.#y, cy), third(x, cx), third(y, cy), x, y);
    this.#control = { kind: 'quadratic', x: cx, y: cy };
  }

  #reflected(control: { kind: string; x: number; y: number } | undefined, kind: string): [number, number] {
    if (control?.kind !== kind) return [this.#x, this.#y];
    return [2 * this.#x - control.x, 2 * this.#y - control.y];
  }

  #arcTo(
    rx: number,
    ry: number,
    degrees: number,
    isLarge: boolean,
    isClockwise: boolean,
    dx: number,
    dy: number,
  ): void {
    if (dx === 0 && dy === 0) return;
    const [fromX, fromY] = [this.#x, this.#y];
    if (rx === 0 || ry === 0) {
      this.#lineTo(fromX + dx, fromY + dy);
      return;
    }
    const points = arcPoints(rx, ry, degrees, isLarge, isClockwise, dx, dy);
    const at = (i: number) => (i % 2 === 0 ? fromX : fromY) + (points[i] as number);
    for (let i = 0; i < points.length; i += 6)
      this.#curveTo(at(i), at(i + 1), at(i + 2), at(i + 3), at(i + 4), at(i + 5));
    this.#control = undefined;
  }
}

/** A symbol has hundreds of arcs of a few kinds, and computing one takes several times as long as looking it up. */
const maxCachedArcs = 1_000;
const cachedArcs = new Map<string, readonly number[]>();

/** The curves of an arc that starts at 0 0 and ends at `dx` `dy`: for each, `x` and `y` of both control points and its end. */
function arcPoints(...arc: Parameters<typeof computeArc>): readonly number[] {
  const key = arc.join();
  const known = cachedArcs.get(key);
  if (known !== undefined) return known;
  const points = computeArc(...arc);
  if (cachedArcs.size >= maxCachedArcs) cachedArcs.clear();
  cachedArcs.set(key, points);
  return points;
}

/** Converts an arc by its end point to its center as appendix B.2.4 of SVG 2 has it, then to curves of up to 90°. */
function computeArc(
  rx: number,
  ry: number,
  degrees: number,
  isLarge: boolean,
  isClockwise: boolean,
  dx: number,
  dy: number,
): number[] {
  const [cos, sin] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
  const [halfX, halfY] = [-dx / 2, -dy / 2];
  const [px, py] = [cos * halfX + sin * halfY, cos * halfY - sin * halfX];
  const stretch = Math.max(1, Math.hypot(px / rx, py / ry));
  const [a, b] = [rx * stretch, ry * stretch];
  const distance = (a * py) ** 2 + (b * px) ** 2;
  const offset = Math.sqrt(Math.max(0, ((a * b) ** 2 - distance) / distance)) * (isLarge === isClockwise ? -1 : 1);
  const [ux, uy] = [(offset * a * py) / b, (-offset * b * px) / a];
  const centerX = cos * ux - sin * uy + dx / 2;
  const centerY = sin * ux + cos * uy + dy / 2;
  const start = Math.atan2((py - uy) / b, (px - ux) / a);
  let sweep = Math.atan2((-py - uy) / b, (-px - ux) / a) - start;
  if (isClockwise && sweep < 0) sweep += 2 * Math.PI;
  if (!isClockwise && sweep > 0) sweep -= 2 * Math.PI;
  const count = Math.max(1, Math.ceil(Math.abs(sweep) / (Math.PI / 2) - 1e-9));
  const step = sweep / count;
  const handle = (4 / 3) * Math.tan(step / 4);
  const point = (angle: number, turn: number): [number, number] => {
    const [ex, ey] = [
      a * (Math.cos(angle) - turn * handle * Math.sin(angle)),
      b * (Math.sin(angle) + turn * handle * Math.cos(angle)),
    ];
    return [centerX + cos * ex - sin * ey, centerY + sin * ex + cos * ey];
  };
  return Array.from({ length: count }, (_, i) => {
    const [from, to] = [start + i * step, start + (i + 1) * step];
    return [...point(from, 1), ...point(to, -1), ...(i === count - 1 ? [dx, dy] : point(to, 0))];
  }).flat();
}
