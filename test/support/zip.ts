/** Reads a ZIP file of stored entries by its directory, as unzip programs do, and checks each entry's own header. */
export function readZip(zip: Buffer): { name: string; bytes: Buffer; crc: number; at: string }[] {
  const end = zip.length - 22;
  if (zip.readUInt32LE(end) !== 0x06054b50) throw new Error('no end of the directory');
  const entries: ReturnType<typeof readZip> = [];
  let at = zip.readUInt32LE(end + 16);
  if (at + zip.readUInt32LE(end + 12) !== end) throw new Error('the directory does not end where it should');
  for (let i = 0; i < zip.readUInt16LE(end + 10); i++) {
    if (zip.readUInt32LE(at) !== 0x02014b50) throw new Error('no line of the directory');
    const nameLength = zip.readUInt16LE(at + 28);
    const header = zip.readUInt32LE(at + 42);
    const shared = (offset: number) => zip.subarray(offset, offset + 26).toString('hex');
    if (zip.readUInt32LE(header) !== 0x04034b50 || shared(header + 4) !== shared(at + 6))
      throw new Error('an entry differs from its line in the directory');
    const start = header + 30 + nameLength;
    const name = zip.subarray(at + 46, at + 46 + nameLength).toString('utf8');
    if (zip.subarray(header + 30, start).toString('utf8') !== name) throw new Error('an entry has another name');
    const bytes = Buffer.from(zip.subarray(start, start + zip.readUInt32LE(at + 20)));
    entries.push({
      name,
      bytes,
      crc: zip.readUInt32LE(at + 16),
      at: timeOf(zip.readUInt16LE(at + 14), zip.readUInt16LE(at + 12)),
    });
    at += 46 + nameLength;
  }
  return entries;
}

const two = (value: number) => String(value).padStart(2, '0');
const timeOf = (date: number, time: number) =>
  `${(date >> 9) + 1980}-${two((date >> 5) & 15)}-${two(date & 31)}T${two(time >> 11)}:${two((time >> 5) & 63)}:${two((time & 31) * 2)}`;
