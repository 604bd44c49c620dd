import { crc32, deflateSync } from 'node:zlib';

/** Images for tests, generated, so that the repository has no binary files. */

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

export function chunk(type: string, data: Uint8Array): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(data.length);
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const crc = Buffer.alloc(4);
  crc.writeUInt32BE(crc32(body));
  return Buffer.concat([head, body, crc]);
}

interface PngOptions {
  width?: number;
  height?: number;
  /** The dimensions that the header claims. */
  claims?: { width: number; height: number };
  /** Between header and pixels. */
  extra?: Buffer[];
  interlaced?: boolean;
  color?: readonly [number, number, number, number];
  /** Of the top-left quarter. */
  corner?: readonly [number, number, number, number];
}

/** RGBA, red, except that the top-left quarter is blue. */
export function png(options: PngOptions = {}): Buffer {
  const { width = 8, height = 8, extra = [], interlaced = false, color = [200, 0, 0, 255] } = options;
  const { corner = [0, 0, 200, 255] } = options;
  const claims = options.claims ?? { width, height };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(claims.width, 0);
  header.writeUInt32BE(claims.height, 4);
  header.set([8, 6, 0, 0, interlaced ? 1 : 0], 8);
  const pixel = (x: number, y: number) => (x < width / 2 && y < height / 2 ? corner : color);
  const rows: number[] = [];
  const passes = interlaced
    ? [
        [0, 0, 8, 8],
        [4, 0, 8, 8],
        [0, 4, 4, 8],
        [2, 0, 4, 4],
        [0, 2, 2, 4],
        [1, 0, 2, 2],
        [0, 1, 1, 2],
      ]
    : [[0, 0, 1, 1]];
  for (const [startX = 0, startY = 0, stepX = 1, stepY = 1] of passes)
    for (let y = startY; y < height; y += stepY) {
      if (startX >= width) continue;
      rows.push(0);
      for (let x = startX; x < width; x += stepX) rows.push(...pixel(x, y));
    }
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    ...extra,
    chunk('IDAT', deflateSync(Buffer.from(rows))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

export const jpeg = async (image = png({ width: 16, height: 8 })) =>
  Buffer.from(await new Bun.Image(image).jpeg({ quality: 90 }).bytes());

export const webp = async (image = png({ width: 16, height: 8 })) =>
  Buffer.from(await new Bun.Image(image).webp({ quality: 90 }).bytes());

/** A JPEG with EXIF data: an orientation, and a text in place of where it was taken. */
export function withExif(image: Buffer, orientation: number): Buffer {
  const tiff = Buffer.concat([
    Buffer.from('MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01', 'latin1'),
    Buffer.from([0, orientation, 0, 0, 0, 0, 0, 0]),
    Buffer.from('GPS 48.137, 11.575'),
  ]);
  const data = Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), tiff]);
  const head = Buffer.from([0xff, 0xe1, 0, 0]);
  head.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([image.subarray(0, 2), head, data, image.subarray(2)]);
}

/** The position of a JPEG's frame header. */
export const frameOf = (image: Buffer) => {
  for (let at = 2; ; at += 2 + image.readUInt16BE(at + 2)) {
    const code = image[at + 1] as number;
    if (code >= 0xc0 && code <= 0xc2) return at;
  }
};

export const svg = (content: string, attributes = '') =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 100 50" ${attributes}>${content}</svg>`,
  );
