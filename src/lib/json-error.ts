/** Where a text stops being JSON, and what is wrong there. */
export interface JsonError {
  /** From 1. */
  line: number;
  /** From 1, in characters. */
  column: number;
  problem: string;
}

/**
 * Finds the first error of a text that JSON.parse has refused: its own message has no position.
 *
 * @example
 * findJsonError('{"name" 1}'); // { line: 1, column: 9, problem: 'expected ":", found \'1\'' }
 */
export function findJsonError(text: string): JsonError | undefined {
  const found = scan(text);
  if (found === undefined) return undefined;
  const lines = text.slice(0, found.at).split('\n');
  return { line: lines.length, column: [...(lines.at(-1) ?? '')].length + 1, problem: found.problem };
}

interface Found {
  at: number;
  problem: string;
}

/** What may come next, in the words of the message. */
const expectations = {
  value: 'a value',
  firstItem: 'a value or "]"',
  name: 'a name in double quotes',
  firstName: 'a name in double quotes or "}"',
  colon: '":"',
  nextItem: '"," or "]"',
  nextField: '"," or "}"',
  end: 'the end of the text',
};
type Expected = keyof typeof expectations;

/** Without recursion, because a body of 1 MiB can be nested a million levels deep. */
function scan(text: string): Found | undefined {
  const open: string[] = [];
  let expected: Expected = 'value';
  let at = 0;
  for (;;) {
    while (at < text.length && ' \t\n\r'.includes(text.charAt(at))) at++;
    if (at === text.length && expected === 'end') return undefined;
    const token = tokenAt(text, at);
    const next: Expected | undefined = token === undefined ? undefined : follow(expected, token.kind, open);
    if (token === undefined || next === undefined)
      return { at, problem: `expected ${expectations[expected]}, found ${foundAt(text, at)}` };
    if (token.error !== undefined) return token.error;
    at = token.end;
    expected = next;
  }
}

/** What may come after a token; undefined if the token may not come here. `open` are the brackets that are not closed. */
function follow(expected: Expected, kind: string, open: string[]): Expected | undefined {
  const isValue = expected === 'value' || expected === 'firstItem';
  switch (kind) {
    case '[':
    case '{':
      if (!isValue) return undefined;
      open.push(kind);
      return kind === '[' ? 'firstItem' : 'firstName';
    case ']':
      if (expected !== 'firstItem' && expected !== 'nextItem') return undefined;
      open.pop();
      return afterValue(open);
    case '}':
      if (expected !== 'firstName' && expected !== 'nextField') return undefined;
      open.pop();
      return afterValue(open);
    case ':':
      return expected === 'colon' ? 'value' : undefined;
    case ',':
      return expected === 'nextItem' ? 'value' : expected === 'nextField' ? 'name' : undefined;
    case 'string':
      if (expected === 'name' || expected === 'firstName') return 'colon';
      return isValue ? afterValue(open) : undefined;
    default:
      return isValue ? afterValue(open) : undefined;
  }
}

function afterValue(open: string[]): Expected {
  const bracket = open.at(-1);
  return bracket === undefined ? 'end' : bracket === '[' ? 'nextItem' : 'nextField';
}

interface Token {
  /** The bracket or separator itself, `string`, or `literal`. */
  kind: string;
  end: number;
  /** An error within a string. */
  error?: Found;
}

const literal = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

function tokenAt(text: string, at: number): Token | undefined {
  const char = text.charAt(at);
  if (char !== '' && '[]{}:,'.includes(char)) return { kind: char, end: at + 1 };
  if (char === '"') return stringAt(text, at);
  literal.lastIndex = at;
  return literal.test(text) ? { kind: 'literal', end: literal.lastIndex } : undefined;
}

function stringAt(text: string, at: number): Token {
  const failed = (place: number, problem: string): Token => ({
    kind: 'string',
    end: place,
    error: { at: place, problem },
  });
  for (let i = at + 1; i < text.length; i++) {
    const char = text.charAt(i);
    if (char === '"') return { kind: 'string', end: i + 1 };
    if (char < ' ') return failed(i, `${foundAt(text, i)} in a string must be escaped`);
    if (char !== '\\') continue;
    const sequence = text.slice(i + 1, i + 6);
    if (!/^(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/.test(sequence)) return failed(i, 'unknown escape sequence in a string');
    i += sequence.startsWith('u') ? 5 : 1;
  }
  return failed(at, 'the string that begins here is not closed');
}

/** The character at `at` as a message shows it. */
function foundAt(text: string, at: number): string {
  const code = text.codePointAt(at);
  if (code === undefined) return 'the end of the text';
  if (code === 10 || code === 13) return 'a line break';
  const char = String.fromCodePoint(code);
  return /[\p{C}\p{Z}]/u.test(char) ? `U+${code.toString(16).toUpperCase().padStart(4, '0')}` : `'${char}'`;
}
