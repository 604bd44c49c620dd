import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { constants, createGunzip, createZstdCompress, createZstdDecompress } from 'node:zlib';
import { codeOf, messageOf, StartError } from '../lib/errors.ts';
import { steadyWrite } from '../lib/steady-write.ts';

/** Takes a third of the time of gzip at its default level, for a smaller file. */
const compressionLevel = 1;
const chunkBytes = 256 * 1024;
const zstdMagic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** Writes lines to a compressed file, with a checksum of all of them. Another thread compresses them. */
export class CompressedLines {
  readonly #compress = createZstdCompress({
    chunkSize: chunkBytes,
    params: { [constants.ZSTD_c_compressionLevel]: compressionLevel },
  });
  readonly #checksum = createHash('sha256');
  readonly #written: Promise<void>;

  constructor(handle: FileHandle) {
    this.#written = pipeline(this.#compress, async (chunks: AsyncIterable<Uint8Array>) => {
      const write = steadyWrite(handle);
      for await (const chunk of chunks) await write(chunk);
    });
    // Its error is thrown by the next write.
    this.#written.catch(() => {});
  }

  async write(text: string): Promise<void> {
    const bytes = Buffer.from(text);
    this.#checksum.update(bytes);
    if (!this.#compress.write(bytes)) await Promise.race([once(this.#compress, 'drain'), this.#written]);
  }

  /** Writes the last line, which has the checksum of the lines before. Resolves when the whole file is written. */
  async end(lastLine: (sha256: string) => string): Promise<void> {
    this.#compress.end(`${lastLine(this.#checksum.digest('hex'))}\n`);
    await this.#written;
  }

  /** Resolves when nothing more will be written to the file. */
  async abandon(): Promise<void> {
    this.#compress.destroy();
    await this.#written.catch(() => {});
  }
}

/** The errors of a file that cannot be read as what it should be. */
export interface FileErrors {
  unknown(file: string): Error;
  damaged(file: string, reason: string): Error;
}

/** The text of a compressed file in pieces of whole lines. */
export async function* textOf(file: string, errors: FileErrors): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let rest = '';
  try {
    const decompress = (await isZstd(file))
      ? createZstdDecompress({ chunkSize: chunkBytes })
      : createGunzip({ chunkSize: chunkBytes });
    const compressed = createReadStream(file, { highWaterMark: chunkBytes });
    compressed.on('error', (error) => decompress.destroy(error));
    try {
      for await (const chunk of compressed.pipe(decompress)) {
        const text = rest + decoder.decode(chunk, { stream: true });
        const end = text.lastIndexOf('\n') + 1;
        rest = text.slice(end);
        if (end > 0) yield text.slice(0, end);
      }
    } finally {
      compressed.destroy();
    }
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') throw new StartError(`There is no file ${file}.`);
    if (!/^Z(STD)?_/.test(code)) throw new StartError(`${file} cannot be read: ${messageOf(error)}`);
    throw /header/.test(messageOf(error)) ? errors.unknown(file) : errors.damaged(file, messageOf(error));
  }
}

async function isZstd(file: string): Promise<boolean> {
  const handle = await open(file);
  try {
    const { buffer } = await handle.read(Buffer.alloc(zstdMagic.length), 0, zstdMagic.length, 0);
    return buffer.equals(zstdMagic);
  } finally {
    await handle.close();
  }
}

/** The value of a line of JSON; undefined if it is none. */
export function parseLine<T>(line: string): T | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
