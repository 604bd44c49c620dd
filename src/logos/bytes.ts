import type { LogoFormat } from '../../events/logo.ts';

/** An image that cannot be a logo. The message completes the sentence "The image …". */
export class BadImage extends RangeError {}

export const maxSidePx = 4096;

/** What the container of a raster image says about it, before anything is decoded. */
export interface RasterHeader {
  format: Exclude<LogoFormat, 'svg'>;
  width: number;
  height: number;
  /** The EXIF orientation, 1 to 8; 1 is upright. */
  orientation: number;
}

/** Reads numbers; throws `BadImage` beyond the end of the file. */
export class Reader {
  readonly bytes: Uint8Array;
  readonly #view: DataView;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get length(): number {
    return this.bytes.length;
  }

  u8(at: number): number {
    return this.#read(at, 1, () => this.#view.getUint8(at));
  }

  u16(at: number, isLittle = false): number {
    return this.#read(at, 2, () => this.#view.getUint16(at, isLittle));
  }

  u24(at: number): number {
    return this.u8(at) | (this.u8(at + 1) << 8) | (this.u8(at + 2) << 16);
  }

  u32(at: number, isLittle = false): number {
    return this.#read(at, 4, () => this.#view.getUint32(at, isLittle));
  }

  text(at: number, length: number): string {
    return this.#read(at, length, () => String.fromCharCode(...this.bytes.subarray(at, at + length)));
  }

  #read<T>(at: number, length: number, get: () => T): T {
    if (at < 0 || at + length > this.length) throw new BadImage('is cut off');
    return get();
  }
}

/** Refuses sizes before a decoder allocates memory for them. */
export function checkSize<H extends Pick<RasterHeader, 'width' | 'height'>>(header: H): H {
  const { width, height } = header;
  if (width < 1 || height < 1) throw new BadImage('has no pixels');
  if (width > maxSidePx || height > maxSidePx)
    throw new BadImage(`has ${width} × ${height} pixels; each side may have at most ${maxSidePx}`);
  return header;
}
