import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import decodeQr from 'qr/decode.js';
import { prepareZXingModule, type ReaderOptions, readBarcodes } from 'zxing-wasm/reader';
import type { Gray } from './gray.ts';

/** Reads QR codes from images. */
export interface Decoder {
  readonly name: string;
  /** The text of the QR code in an image, or undefined if none is found. */
  read(image: Gray): Promise<string | undefined>;
}

/** The first one is the stronger one. They share no code: ZXing is C++, `qr` is TypeScript written from the standard. */
export const loadDecoders = async (): Promise<[Decoder, Decoder]> => [await zxingDecoder(), qrDecoder];

async function zxingDecoder(): Promise<Decoder> {
  // By default the package fetches this file from the network.
  const wasm = await readFile(fileURLToPath(import.meta.resolve('zxing-wasm/reader/zxing_reader.wasm')));
  const wasmBinary = wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength) as ArrayBuffer;
  await prepareZXingModule({ overrides: { wasmBinary }, fireImmediately: true });
  const options: ReaderOptions = { formats: ['QRCode'], maxNumberOfSymbols: 1 };
  return {
    name: 'ZXing',
    async read(image) {
      const [found] = await readBarcodes(rgbaOf(image) as Parameters<typeof readBarcodes>[0], options);
      return found?.text;
    },
  };
}

const qrDecoder: Decoder = {
  name: 'qr',
  async read(image) {
    try {
      return decodeQr(rgbaOf(image));
    } catch {
      // It throws if there is nothing to read.
      return undefined;
    }
  },
};

/** The same image with four bytes per pixel. */
function rgbaOf({ width, height, data }: Gray): { width: number; height: number; data: Uint8ClampedArray } {
  const rgba = new Uint32Array(width * height);
  // Opaque, with the shade in all three channels.
  for (let i = 0; i < rgba.length; i++) rgba[i] = 0xff000000 | ((data[i] as number) * 0x010101);
  return { width, height, data: new Uint8ClampedArray(rgba.buffer) };
}
