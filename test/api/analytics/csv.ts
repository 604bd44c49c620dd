/** Parses CSV strictly by RFC 4180: every line ends with CRLF, and no text is allowed next to a quoted cell. */
export function cellsOf(file: string): string[][] {
  const lines: string[][] = [];
  let cells: string[] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  for (let at = 0; at < file.length; at = cell.lastIndex) {
    cell.lastIndex = at;
    const [, quoted, plain, end] = cell.exec(file) ?? [];
    if (end === undefined) throw new Error(`invalid CSV at ${JSON.stringify(file.slice(at, at + 80))}`);
    cells.push(quoted?.replaceAll('""', '"') ?? plain ?? '');
    if (end === ',') continue;
    lines.push(cells);
    cells = [];
  }
  return lines;
}
