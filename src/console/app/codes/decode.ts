/** The text of a file, and the name of its encoding if it is not UTF-8. */
export interface DecodedFile {
  text: string;
  converted: string | undefined;
}

/** Decodes a text file. Spreadsheets write UTF-8, UTF-16 with a byte order mark, or the encoding of old Windows versions. */
export function decodeFile(bytes: Uint8Array): DecodedFile {
  // `utf-16` is little endian.
  if (bytes[0] === 0xff && bytes[1] === 0xfe)
    return { text: new TextDecoder('utf-16').decode(bytes), converted: 'UTF-16' };
  if (bytes[0] === 0xfe && bytes[1] === 0xff)
    return { text: new TextDecoder('utf-16').decode(swapped(bytes)), converted: 'UTF-16' };
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), converted: undefined };
  } catch {
    // Also reads Latin-1: the two differ only in control characters.
    return { text: new TextDecoder('windows-1252').decode(bytes), converted: 'windows-1252' };
  }
}

/** The bytes of each pair in the other order. */
const swapped = (bytes: Uint8Array) => bytes.map((byte, i) => bytes[i ^ 1] ?? byte);

/** The first words that an encoding could have spelled wrong, for the user to compare. */
export const wordsToCheck = (text: string, max = 3): string[] =>
  [...new Set(text.match(/[\p{L}\p{N}]*[^\p{ASCII}][^\s,;"]*/gu))].slice(0, max);

/** Why a file cannot be a table, or undefined. */
export function problemWithFile(bytes: Uint8Array, maxMegabytes: number): string | undefined {
  if (bytes.length > maxMegabytes * 1024 * 1024)
    return `The file is larger than ${maxMegabytes} MB. Split it into smaller files.`;
  // An Excel or LibreOffice file is a ZIP archive, an old Excel file an OLE document.
  const isWorkbook = [
    [0x50, 0x4b, 3, 4],
    [0xd0, 0xcf, 0x11, 0xe0],
  ].some((head) => head.every((byte, i) => bytes[i] === byte));
  return isWorkbook
    ? 'This is a workbook. Save it as CSV in your spreadsheet program, or copy the cells and paste them here.'
    : undefined;
}
