import { StartError } from '../lib/errors.ts';

export interface CsvRow {
  /** The line on which it begins, from 1. */
  line: number;
  cells: string[];
}

/** A row that is longer has a quote that is not closed. */
const maxRowLength = 1_000_000;

/**
 * Parses a table in pieces of any length: comma, semicolon or tab as separator, the one that is most frequent in the first line,
 * and quotes as in RFC 4180. Empty rows are left out. Keeps one row in memory.
 */
export async function* readCsv(pieces: AsyncIterable<string>): AsyncGenerator<CsvRow> {
  const parser = new RowParser();
  for await (const piece of pieces) yield* parser.rowsOf(piece);
  yield* parser.rowsOf('\n');
  if (parser.isQuoted) throw new StartError(`The quote in line ${parser.rowStart} of the file is not closed.`);
}

class RowParser {
  isQuoted = false;
  rowStart = 1;
  #line = 1;
  #separator: string | undefined;
  /** The text before the end of the first line, which decides about the separator. */
  #head = '';
  #cells: string[] = [];
  #cell = '';
  /** Whether the last character was a quote within quotes: the next one decides what it means. */
  #isAfterQuote = false;
  #rowLength = 0;

  *rowsOf(piece: string): Generator<CsvRow> {
    let text = piece;
    if (this.#separator === undefined) {
      this.#head += piece;
      const end = this.#head.search(/[\r\n]/);
      if (end === -1) return this.#checkLength(this.#head.length);
      text = this.#head.replace(/^\ufeff/, '');
      this.#separator = separatorOf(text.slice(0, text.search(/[\r\n]/)));
      this.#head = '';
    }
    for (const char of text) {
      const row = this.#take(char);
      if (row !== undefined) yield row;
    }
  }

  #take(char: string): CsvRow | undefined {
    this.#checkLength(++this.#rowLength);
    if (char === '\n') this.#line++;
    if (this.isQuoted && !this.#isAfterQuote) {
      if (char === '"') this.#isAfterQuote = true;
      else this.#cell += char;
      return undefined;
    }
    if (this.#isAfterQuote) {
      this.#isAfterQuote = false;
      if (char === '"') {
        this.#cell += char;
        return undefined;
      }
      this.isQuoted = false;
    }
    if (char === '\n') return this.#endRow();
    if (char === '"' && this.#cell.trim() === '') {
      this.isQuoted = true;
      this.#cell = '';
    } else if (char === this.#separator) {
      this.#cells.push(this.#cell);
      this.#cell = '';
    } else if (char !== '\r') this.#cell += char;
    return undefined;
  }

  #endRow(): CsvRow | undefined {
    const row = { line: this.rowStart, cells: [...this.#cells, this.#cell].map((cell) => cell.trim()) };
    this.#cells = [];
    this.#cell = '';
    this.#rowLength = 0;
    this.rowStart = this.#line;
    return row.cells.some((cell) => cell !== '') ? row : undefined;
  }

  #checkLength(length: number): void {
    if (length <= maxRowLength) return;
    throw new StartError(
      `The row in line ${this.rowStart} of the file is longer than ${maxRowLength.toLocaleString('en')} characters: check its quotes.`,
    );
  }
}

function separatorOf(line: string): string {
  const plain = line.replace(/"[^"]*"/g, '');
  const count = (separator: string) => plain.split(separator).length - 1;
  return [',', '\t', ';'].reduce((best, candidate) => (count(candidate) > count(best) ? candidate : best));
}
