/** An image in shades of gray, one byte per pixel, as decoders see it. */
export interface Gray {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

/** Lays an image with alpha on white paper and weighs its channels as cameras do (ITU-R BT.601). */
export function grayOf(rgba: Uint8Array, width: number, height: number): Gray {
  const data = new Uint8Array(width * height);
  for (let i = 0, from = 0; i < data.length; i++, from += 4) {
    const brightness = 0.299 * at(rgba, from) + 0.587 * at(rgba, from + 1) + 0.114 * at(rgba, from + 2);
    // resvg premultiplies: what alpha leaves free is filled with white.
    data[i] = brightness + 255 - at(rgba, from + 3);
  }
  return { width, height, data };
}

/** Adds a border of `px` pixels of one shade. */
export function withBorder({ width, height, data }: Gray, px: number, shade: number): Gray {
  const wide = width + 2 * px;
  const bordered = new Uint8Array(wide * (height + 2 * px)).fill(shade);
  for (let y = 0; y < height; y++) {
    bordered.set(data.subarray(y * width, (y + 1) * width), (y + px) * wide + px);
  }
  return { width: wide, height: height + 2 * px, data: bordered };
}

// Every index is in range by construction.
const at = (values: Uint8Array, index: number): number => values[index] as number;
