import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Pixels } from '../qr/png-file.ts';
import { renderSvg } from '../qr/render.ts';
import { BadImage, type RasterHeader } from './bytes.ts';
import { withoutMetadata } from './png-header.ts';

/**
 * Decodes a raster image whose container is checked. No decoder in C runs outside a sandbox: PNG and JPEG are decoded by
 * resvg, which is written in Rust, and WebP by libwebp in WebAssembly, because resvg does not read it.
 */
export async function decodeImage(bytes: Uint8Array, header: RasterHeader): Promise<Pixels> {
  const pixels = header.format === 'webp' ? await decodeWebp(bytes, header) : await decodeByResvg(bytes, header);
  // resvg leaves out an image that it cannot decode.
  if (!pixels.rgba.some((value, i) => i % 4 === 3 && value !== 0))
    throw new BadImage('is damaged, or completely transparent');
  return upright(pixels, header.orientation);
}

function decodeByResvg(bytes: Uint8Array, { format, width, height }: RasterHeader): Promise<Pixels> {
  const data = Buffer.from(format === 'png' ? withoutMetadata(bytes) : bytes).toString('base64');
  const size = `width="${width}" height="${height}"`;
  return renderSvg(
    `<svg xmlns="http://www.w3.org/2000/svg" ${size}><image ${size} preserveAspectRatio="none" image-rendering="optimizeSpeed" href="data:image/${format};base64,${data}"/></svg>`,
  );
}

async function decodeWebp(bytes: Uint8Array, { width, height }: RasterHeader): Promise<Pixels> {
  const decode = await webpDecoder();
  const image = await decode(Uint8Array.from(bytes).buffer).catch(() => {
    throw new BadImage('is damaged');
  });
  if (image.width !== width || image.height !== height) throw new BadImage('is damaged');
  return { width, height, rgba: new Uint8Array(image.data.buffer, image.data.byteOffset, image.data.byteLength) };
}

class DecodedImage {
  readonly data: Uint8ClampedArray;
  readonly width: number;
  readonly height: number;

  constructor(data: Uint8ClampedArray, width: number, height: number) {
    this.data = data;
    this.width = width;
    this.height = height;
  }
}

type Decode = (bytes: ArrayBuffer) => Promise<DecodedImage>;
let decoder: Promise<Decode> | undefined;

function webpDecoder(): Promise<Decode> {
  decoder ??= (async () => {
    const hadLocation = 'location' in globalThis;
    // The decoder returns one, which only browsers have.
    Object.assign(globalThis, { ImageData: DecodedImage });
    const { default: decode, init } = await import('@jsquash/webp/decode.js');
    const wasm = await readFile(fileURLToPath(import.meta.resolve('@jsquash/webp/codec/dec/webp_dec.wasm')));
    await init(await WebAssembly.compile(wasm));
    // The package adds one without an address, and libraries that resolve URLs against it then fail.
    if (!hadLocation) Reflect.deleteProperty(globalThis, 'location');
    return decode as unknown as Decode;
  })();
  return decoder;
}

/** Turns and mirrors an image as its EXIF orientation says. */
function upright({ width, height, rgba }: Pixels, orientation: number): Pixels {
  if (orientation === 1) return { width, height, rgba };
  const isTurned = orientation >= 5;
  const [toWidth, toHeight] = isTurned ? [height, width] : [width, height];
  const from = new Uint32Array(rgba.buffer, rgba.byteOffset, width * height);
  const to = new Uint32Array(width * height);
  for (let y = 0; y < toHeight; y++) {
    for (let x = 0; x < toWidth; x++) {
      const [across, down] = isTurned ? [y, x] : [x, y];
      const isFlippedX = [2, 3, 7, 8].includes(orientation);
      const isFlippedY = [3, 4, 6, 7].includes(orientation);
      const sourceX = isFlippedX ? width - 1 - across : across;
      const sourceY = isFlippedY ? height - 1 - down : down;
      to[y * toWidth + x] = from[sourceY * width + sourceX] as number;
    }
  }
  return { width: toWidth, height: toHeight, rgba: new Uint8Array(to.buffer) };
}
