/** Images that cost far more to decode, store or draw than to upload. */

/** A VP8L image of one color: a few bytes, whatever its size. */
function lossless(width: number, height: number): Buffer {
  const bits: number[] = [];
  const put = (value: number, count: number) => {
    for (let i = 0; i < count; i++) bits.push((value >>> i) & 1);
  };
  put(width - 1, 14);
  put(height - 1, 14);
  // With alpha, version 0, no transform, no color cache, no meta prefix.
  put(1, 1);
  put(0, 6);
  for (const symbol of [120, 200, 30, 255]) {
    put(0b101, 3);
    put(symbol, 8);
  }
  put(1, 4);
  const bytes = Buffer.alloc(1 + Math.ceil(bits.length / 8));
  bytes[0] = 0x2f;
  for (const [i, bit] of bits.entries()) bytes[1 + (i >> 3)] = (bytes[1 + (i >> 3)] ?? 0) | (bit << (i & 7));
  return bytes;
}

export function webp(images: { width: number; height: number }[]): Buffer {
  const chunks = images.map(({ width, height }) => {
    const data = lossless(width, height);
    const head = Buffer.from('VP8L\0\0\0\0', 'latin1');
    head.writeUInt32LE(data.length, 4);
    return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
  });
  const body = Buffer.concat([Buffer.from('WEBP'), ...chunks]);
  const head = Buffer.from('RIFF\0\0\0\0', 'latin1');
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body]);
}

const svg = (content: string) =>
  Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100">${content}</svg>`);

function longPath(characters: number): string {
  let path = 'M0 0';
  for (let i = 0; path.length < characters; i++) path += `L${(i * 7) % 97} ${(i * 13) % 89}`;
  return path;
}

/** Decoders read the first of the two images. */
export const twoImages = () =>
  webp([
    { width: 12_000, height: 12_000 },
    { width: 100, height: 100 },
  ]);

/** 540 MB of path data. */
export const repeatedPath = () =>
  svg(`<defs><path id="p" d="${longPath(900_000)}"/></defs>${'<use href="#p"/>'.repeat(600)}`);

/** 240 MB, if the clip is stored with each path. */
export function detailedClip(): Buffer {
  const bars = Array.from({ length: 800 }, (_, i) => `<path d="M${i % 90} 0h3v99z"/>`).join('');
  const clip = `<defs><clipPath id="c"><path d="${longPath(300_000)}"/></clipPath></defs>`;
  return svg(`${clip}<g clip-path="url(#c)">${bars}</g>`);
}

const gradient =
  '<linearGradient id="g"><stop stop-color="#f00" stop-opacity=".5"/><stop offset="1" stop-color="#00f" stop-opacity=".5"/></linearGradient>';

/** Translucent, clipped gradients over the whole image. 1,600 take 29 s in a PNG of 2,048 pixels; 80 are accepted. */
export function layers(count: number): Buffer {
  const layer = '<g clip-path="url(#c)" opacity=".9"><path d="M0 0H100V100H0z" fill="url(#g)"/></g>';
  const defs = `<defs>${gradient}<clipPath id="c"><circle cx="50" cy="50" r="49"/></clipPath></defs>`;
  return svg(defs + layer.repeat(count));
}
