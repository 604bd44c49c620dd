import { crc32 } from 'node:zlib';

export interface ZipEntry {
  name: string;
  bytes: Uint8Array;
}

/** Version 2.0 of the format; names are UTF-8; "stored", since images are compressed already. */
const common = { version: 20, flags: 0x0800, method: 0 };

/** Date and time as MS-DOS stored them, in UTC, with a resolution of 2 s. */
const dosTime = (at: Date) => ({
  date: ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate(),
  time: (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1),
});

/** Little-endian numbers, each as [value, bytes]. */
function record(...fields: [value: number, bytes: 2 | 4][]): Buffer {
  const buffer = Buffer.alloc(fields.reduce((sum, [, bytes]) => sum + bytes, 0));
  let offset = 0;
  for (const [value, bytes] of fields) offset = buffer.writeUIntLE(value, offset, bytes);
  return buffer;
}

/**
 * A ZIP file without compression, of up to 65,535 entries and 4 GiB, produced entry by entry.
 *
 * @example
 * async function* files() {
 *   for (const code of codes) yield { name: `${code.short_code}.png`, bytes: await draw(code) };
 * }
 * const response = new Response(ReadableStream.from(zipOf(files(), now)));
 */
export async function* zipOf(entries: AsyncIterable<ZipEntry>, at: Date): AsyncGenerator<Uint8Array> {
  const { date, time } = dosTime(at);
  const directory: Buffer[] = [];
  let offset = 0;
  for await (const { name, bytes } of entries) {
    const nameBytes = Buffer.from(name, 'utf8');
    // The part that the header of the entry and its line in the directory have in common.
    const described = record(
      [common.version, 2],
      [common.flags, 2],
      [common.method, 2],
      [time, 2],
      [date, 2],
      [crc32(bytes), 4],
      [bytes.length, 4],
      [bytes.length, 4],
      [nameBytes.length, 2],
      [0, 2],
    );
    const piece = Buffer.concat([record([0x04034b50, 4]), described, nameBytes, bytes]);
    directory.push(
      record([0x02014b50, 4], [common.version, 2]),
      described,
      // No comment, disk 0, no attributes.
      record([0, 2], [0, 2], [0, 2], [0, 4], [offset, 4]),
      nameBytes,
    );
    offset += piece.length;
    yield piece;
  }
  const listed = Buffer.concat(directory);
  const count = directory.length / 4;
  yield Buffer.concat([
    listed,
    record([0x06054b50, 4], [0, 2], [0, 2], [count, 2], [count, 2], [listed.length, 4], [offset, 4], [0, 2]),
  ]);
}
