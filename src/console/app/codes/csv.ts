/** Parses a pasted table: comma, semicolon or tab as separator, quotes as in RFC 4180; empty rows are left out. */
export function parseTable(text: string): { line: number; cells: string[] }[] {
  const source = text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n');
  const separator = separatorOf(source);
  const rows: { line: number; cells: string[] }[] = [];
  let cells: string[] = [];
  let cell = '';
  let isQuoted = false;
  let line = 1;
  let rowStart = 1;
  const endRow = () => {
    cells.push(cell);
    if (cells.some((text) => text.trim() !== ''))
      rows.push({ line: rowStart, cells: cells.map((text) => text.trim()) });
    cells = [];
    cell = '';
    rowStart = line;
  };
  for (let i = 0; i < source.length; i++) {
    const char = source[i] as string;
    if (char === '\n') line++;
    if (isQuoted) {
      if (char !== '"') cell += char;
      else if (source[i + 1] === '"') {
        cell += char;
        i++;
      } else isQuoted = false;
    } else if (char === '"' && cell.trim() === '') {
      isQuoted = true;
      cell = '';
    } else if (char === separator) {
      cells.push(cell);
      cell = '';
    } else if (char === '\n') endRow();
    else cell += char;
  }
  endRow();
  return rows;
}

/** The most frequent separator in the first line, outside of quotes. */
function separatorOf(source: string): string {
  const first = source.split('\n', 1)[0]?.replace(/"[^"]*"/g, '') ?? '';
  const count = (separator: string) => first.split(separator).length - 1;
  return [',', '\t', ';'].reduce((best, candidate) => (count(candidate) > count(best) ? candidate : best));
}
