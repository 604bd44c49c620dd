import type { RowsInsert } from './engine.ts';
import { EngineError, notImplemented } from './errors.ts';
import { type Token, tokens } from './tokens.ts';

export type Statement =
  | { kind: 'select'; sql: string; format: string | undefined; totals: boolean }
  | { kind: 'command'; sql: string; format: string | undefined }
  | { kind: 'insert'; insert: RowsInsert };

/**
 * Parses a statement as far as is needed to run it: whether it can be streamed, its FORMAT clause, and where an INSERT
 * ends and its rows begin.
 */
export function readStatement(query: Buffer, body: Buffer): Statement {
  // latin1 maps each byte to one character, so offsets are valid for rows in any encoding; separators are ASCII.
  const insert = readInsert(query, query.toString('latin1'), body);
  if (insert !== undefined) return { kind: 'insert', insert };
  const whole = body.length === 0 ? query : Buffer.concat([query, Buffer.from('\n'), body]);
  return readOther(whole.toString('utf8'));
}

function readOther(sql: string): Statement {
  const all = [...tokens(sql)];
  const end = all.findIndex((token) => token.text === ';');
  if (end !== -1 && all.slice(end).some((token) => token.text !== ';')) {
    throw new EngineError(62, 'SYNTAX_ERROR', 'Syntax error (Multi-statements are not allowed)');
  }
  const outer = all.filter((token) => token.depth === 0 && token.text !== ';');
  const words = outer.map((token) => token.text);
  if (words[0] === 'KILL' && words[1] === 'QUERY') {
    // KILL QUERY … SYNC hangs the engine forever.
    throw notImplemented('KILL QUERY: close the connection of the query, or give it max_execution_time');
  }
  if (words.some((text, i) => text === 'INTO' && words[i + 1] === 'OUTFILE')) throw notImplemented('INTO OUTFILE');
  const format = formatClause(sql, outer);
  const first = all.find((token) => token.text !== '(')?.text;
  const selects = first === 'SELECT' || (first === 'WITH' && !words.includes('INSERT'));
  if (!selects) return { kind: 'command', sql, format };
  return { kind: 'select', sql, format, totals: all.some((token) => token.text === 'TOTALS') };
}

function formatClause(sql: string, outer: Token[]): string | undefined {
  for (let i = outer.length - 2; i >= 0; i -= 1) {
    const next = outer[i + 2]?.text;
    const name = outer[i + 1];
    if (outer[i]?.text === 'FORMAT' && (next === undefined || next === 'SETTINGS')) return textOf(sql, name);
  }
  return undefined;
}

const textOf = (sql: string, token: Token | undefined) => (token ? sql.slice(token.start, token.end) : undefined);

function readInsert(query: Buffer, sql: string, body: Buffer): RowsInsert | undefined {
  const stream = tokens(sql);
  const next = (): Token | undefined => stream.next().value ?? undefined;
  if (next()?.text !== 'INSERT') return undefined;
  // FROM INFILE must be inserted before SETTINGS.
  let clausesAt: number | undefined;
  for (let token = afterTable(next); token !== undefined; token = next()) {
    if (token.depth > 0) continue;
    if (token.text === 'SETTINGS') clausesAt ??= token.start;
    else if (token.text === 'VALUES') return withRows(query, clausesAt, token, 'Values', token.end, body);
    else if (token.text === 'FORMAT') {
      const name = next();
      const format = textOf(sql, name);
      if (name === undefined || format === undefined) return undefined;
      return withRows(query, clausesAt, token, format, startOfRows(sql, name.end), body);
    } else if (token.text === 'SELECT' || token.text === 'WITH' || token.text === 'FROM') return undefined;
  }
  return undefined;
}

/** The first token after the name of the table, which may itself be a word like `format` or `values`. */
function afterTable(next: () => Token | undefined): Token | undefined {
  let token = next();
  while (token?.text === 'INTO' || token?.text === 'TABLE' || token?.text === 'FUNCTION') token = next();
  token = next();
  while (token?.text === '.') {
    next();
    token = next();
  }
  return token;
}

/** Rows begin after one line break, if there is one: in some formats a second one would be a row. */
function startOfRows(sql: string, at: number): number {
  const rows = /[ \t\r\f]*\n?/y;
  rows.lastIndex = at;
  rows.test(sql);
  return rows.lastIndex;
}

function withRows(
  query: Buffer,
  clausesAt: number | undefined,
  last: Token,
  format: string,
  rowsAt: number,
  body: Buffer,
): RowsInsert {
  const into = query.toString('utf8', 0, clausesAt ?? last.start);
  const settings = query.toString('utf8', clausesAt ?? last.start, last.start);
  const inline = query.subarray(rowsAt);
  return {
    // On separate lines, because the text before may end in a comment.
    sql: (file) => `${into}\n${file === undefined ? '' : `FROM INFILE '${file}'`}\n${settings}\nFORMAT ${format}`,
    format,
    data: inline.length === 0 ? body : Buffer.concat([inline, body]),
  };
}
