/** Rows of a table as people paste it: commas, semicolons or tabs between fields, quotes around them as RFC 4180 has it. */
export function parseTable(text: string): { line: number; cells: string[] }[] {
  const source = text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n');
  const separator = separatorOf(source);
  const rows: { line: number; cells: string[] }[] = [];
  let cells: string[] = [];
  let cell = '';
  let isQuoted = false;
  let line = 1;
  let begun = 1;
  const endRow = () => {
    cells.push(cell);
    if (cells.some((one) => one.trim() !== '')) rows.push({ line: begun, cells: cells.map((one) => one.trim()) });
    cells = [];
    cell = '';
    begun = line;
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

/** What the first line has most of, outside of quotes: spreadsheets paste tabs, and some countries save semicolons. */
function separatorOf(source: string): string {
  const first = source.split('\n', 1)[0]?.replace(/"[^"]*"/g, '') ?? '';
  const count = (separator: string) => first.split(separator).length - 1;
  return [',', '\t', ';'].reduce((best, one) => (count(one) > count(best) ? one : best));
}
