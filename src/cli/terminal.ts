import { createInterface } from 'node:readline/promises';

/** Decided by stdout: do not write styled text to stderr, which may be redirected to a file. */
const styled = process.stdout.isTTY === true && !process.env['NO_COLOR'];
const style = (code: number) => (text: string) => (styled ? `\x1b[${code}m${text}\x1b[0m` : text);

export const bold = style(1);
export const dim = style(2);
export const green = style(32);

export const print = (text = '') => process.stdout.write(`${text}\n`);
/** For `--json`: one value on one line. */
export const printJson = (value: unknown): void => void print(JSON.stringify(value));

/** A number with its noun: "1 error", "2,000 errors". */
export const counted = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;

/** Formats rows as aligned columns; the first row is the header. */
export function table(rows: string[][]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => widthOf(row[column] ?? '')))) ?? [];
  const pad = (cell: string, column: number) => cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - widthOf(cell)));
  return rows.map((row) => row.map(pad).join('  ').trimEnd()).join('\n');
}

/** Does not count escape sequences, which take no columns. */
const widthOf = (cell: string) => Bun.stringWidth(cell);

/** Asks a question on the terminal. Call it only if stdin is one. */
export async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(question).finally(() => terminal.close());
  return answer.trim();
}
