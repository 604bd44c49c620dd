/** How vCard 3.0 (RFC 2426) and iCalendar (RFC 5545) write their lines. */

/** A text as the value of a property. */
export const escapeText = (text: string): string => text.replaceAll(/[\\;,]/g, '\\$&').replaceAll(/\r\n|\r|\n/g, '\\n');

const maxLineBytes = 75;

/** Joins lines; lines of more than 75 bytes continue on the next one after a space, between characters. */
export const foldLines = (lines: readonly string[]): string => lines.map((line) => `${folded(line)}\r\n`).join('');

function folded(line: string): string {
  let result = '';
  let bytes = 0;
  for (const character of line) {
    const size = utf8Size(character);
    if (bytes + size > maxLineBytes) {
      result += '\r\n ';
      bytes = 1;
    }
    result += character;
    bytes += size;
  }
  return result;
}

function utf8Size(character: string): number {
  const point = character.codePointAt(0) ?? 0;
  if (point < 0x80) return 1;
  if (point < 0x800) return 2;
  return point < 0x10000 ? 3 : 4;
}
