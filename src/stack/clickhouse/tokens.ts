export interface Token {
  /** Words are in upper case. */
  text: string;
  start: number;
  end: number;
  /** Number of open parentheses around it. */
  depth: number;
}

const space = /\s+/y;
const word = /[\w\x80-\xff]+/y;
const heredoc = /\$\w*\$/y;

/** The tokens of a ClickHouse statement, without spaces and comments. Lazy: it reads no further than it is iterated. */
export function* tokens(sql: string): Generator<Token> {
  let depth = 0;
  let start = 0;
  while (start < sql.length) {
    const trivia = endOfTrivia(sql, start);
    if (trivia > start) {
      start = trivia;
      continue;
    }
    const end = endOfToken(sql, start);
    const text = sql.slice(start, end);
    if (text === ')') depth -= 1;
    yield { text: text.toUpperCase(), start, end, depth };
    if (text === '(') depth += 1;
    start = end;
  }
}

function endOfTrivia(sql: string, at: number): number {
  if (sql.startsWith('--', at) || sql.startsWith('#!', at) || sql.startsWith('# ', at)) return after(sql, '\n', at);
  if (sql.startsWith('/*', at)) return after(sql, '*/', at + 2);
  return endOfMatch(space, sql, at);
}

function endOfToken(sql: string, at: number): number {
  const first = sql[at];
  if (first === "'" || first === '"' || first === '`') return endOfQuoted(sql, first, at);
  const tagEnd = endOfMatch(heredoc, sql, at);
  if (tagEnd > at) return after(sql, sql.slice(at, tagEnd), tagEnd);
  return Math.max(endOfMatch(word, sql, at), at + 1);
}

/** A doubled quote needs no handling: it is read as two adjacent strings. */
function endOfQuoted(sql: string, quote: string, at: number): number {
  for (let i = at + 1; i < sql.length; i += 1) {
    if (sql[i] === '\\') i += 1;
    else if (sql[i] === quote) return i + 1;
  }
  return sql.length;
}

function after(sql: string, mark: string, at: number): number {
  const found = sql.indexOf(mark, at);
  return found === -1 ? sql.length : found + mark.length;
}

function endOfMatch(pattern: RegExp, sql: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(sql) ? pattern.lastIndex : at;
}
