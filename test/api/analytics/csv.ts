/** The cells of a CSV file by the letter of RFC 4180: every line ends with CRLF, and nothing may stand outside of quotes. */
export function cellsOf(file: string): string[][] {
  const lines: string[][] = [];
  let cells: string[] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  for (let at = 0; at < file.length; at = cell.lastIndex) {
    cell.lastIndex = at;
    const [, quoted, plain, end] = cell.exec(file) ?? [];
    if (end === undefined) throw new Error(`no CSV from ${JSON.stringify(file.slice(at, at + 80))} on`);
    cells.push(quoted?.replaceAll('""', '"') ?? plain ?? '');
    if (end === ',') continue;
    lines.push(cells);
    cells = [];
  }
  return lines;
}
