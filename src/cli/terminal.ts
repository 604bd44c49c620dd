const styled = process.stdout.isTTY === true && !process.env['NO_COLOR'];
const style = (code: number) => (text: string) => (styled ? `\x1b[${code}m${text}\x1b[0m` : text);

export const bold = style(1);
export const dim = style(2);
export const green = style(32);

export const say = (text = '') => process.stdout.write(`${text}\n`);
/** For `--json`: one value on one line. */
export const sayJson = (value: unknown): void => void say(JSON.stringify(value));

/** Lines up the columns of a table. */
export function table(rows: string[][]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
