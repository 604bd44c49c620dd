import { inflateSync } from 'node:zlib';

/** Pixels of an image, colors and opacity apart. */
export interface ImagePixels {
  readonly width: number;
  readonly height: number;
  /** Three bytes per pixel. */
  readonly rgb: Uint8Array;
  /** One byte per pixel; undefined if all are opaque. */
  readonly alpha: Uint8Array | undefined;
}

const channelsOf: Record<number, number> = { 2: 3, 6: 4 };

/** Decodes a PNG as logos are stored: 8-bit RGB or RGBA, not interlaced. */
export function pixelsOf(png: Uint8Array): ImagePixels {
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength);
  const [width, height] = [view.getUint32(16), view.getUint32(20)];
  const channels = channelsOf[view.getUint8(25)];
  if (view.getUint8(24) !== 8 || channels === undefined || view.getUint8(28) !== 0)
    throw new RangeError('a logo must be stored as 8-bit RGB or RGBA');
  const rows = new Uint8Array(inflateSync(Buffer.concat(dataChunks(png, view))));
  unfilter(rows, width, height, channels);
  const rgb = new Uint8Array(width * height * 3);
  const alpha = channels === 4 ? new Uint8Array(width * height) : undefined;
  for (let y = 0, pixel = 0; y < height; y++) {
    for (let x = 0, from = y * (1 + width * channels) + 1; x < width; x++, pixel++, from += channels) {
      for (let channel = 0; channel < 3; channel++) rgb[pixel * 3 + channel] = rows[from + channel] as number;
      if (alpha) alpha[pixel] = rows[from + 3] as number;
    }
  }
  return { width, height, rgb, alpha };
}

function dataChunks(png: Uint8Array, view: DataView): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let at = 8; at + 12 <= png.length; ) {
    const length = view.getUint32(at);
    if (view.getUint32(at + 4) === 0x49444154) chunks.push(png.subarray(at + 8, at + 8 + length));
    at += 12 + length;
  }
  return chunks;
}

/** Undoes the filters of a PNG in place; each row starts with the number of its filter. */
function unfilter(rows: Uint8Array, width: number, height: number, channels: number): void {
  const stride = 1 + width * channels;
  for (let y = 0; y < height; y++) {
    const start = y * stride;
    const filter = rows[start];
    for (let i = 1; i < stride; i++) {
      const left = i > channels ? (rows[start + i - channels] as number) : 0;
      const above = y > 0 ? (rows[start + i - stride] as number) : 0;
      const corner = y > 0 && i > channels ? (rows[start + i - stride - channels] as number) : 0;
      rows[start + i] = (rows[start + i] as number) + predicted(filter, left, above, corner);
    }
  }
}

function predicted(filter: number | undefined, left: number, above: number, corner: number): number {
  switch (filter) {
    case 1:
      return left;
    case 2:
      return above;
    case 3:
      return (left + above) >> 1;
    case 4: {
      const guess = left + above - corner;
      const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - above), Math.abs(guess - corner)];
      return a <= b && a <= c ? left : b <= c ? above : corner;
    }
    default:
      return 0;
  }
}
