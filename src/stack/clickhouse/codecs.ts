import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable, type Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { notImplemented } from './errors.ts';

/** The codecs that `@clickhouse/client` supports. */
const codecs = {
  gzip: { encode: () => zlib.createGzip({ level: 3 }), decode: () => zlib.createGunzip() },
  zstd: { encode: () => zlib.createZstdCompress(), decode: () => zlib.createZstdDecompress() },
  br: {
    // The default quality of 11 takes 100 times as long.
    encode: () => zlib.createBrotliCompress({ params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } }),
    decode: () => zlib.createBrotliDecompress(),
  },
} satisfies Record<string, { encode(): Transform; decode(): Transform }>;

export type Codec = keyof typeof codecs;

const isCodec = (name: string): name is Codec => Object.hasOwn(codecs, name);

export const encoder = (codec: Codec): Transform => codecs[codec].encode();

export function acceptedCodec(message: IncomingMessage): Codec | undefined {
  const offered = String(message.headers['accept-encoding'] ?? '').split(',');
  return offered.map((one) => one.split(';')[0]?.trim() ?? '').find(isCodec);
}

/** The decompressed body of a request. */
export function decoder(message: IncomingMessage): Readable {
  const encoding = message.headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity') return message;
  if (!isCodec(encoding)) throw notImplemented(`Content-Encoding ${encoding}`);
  // An error on either side is emitted by the returned stream.
  return pipeline(message, codecs[encoding].decode(), () => {});
}
