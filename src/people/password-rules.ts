import { commonPasswords } from './common-passwords.ts';

export const minPasswordLength = 10;
const maxPasswordLength = 200;

/** Letters that digits and signs commonly stand for. */
const lookalikes: Record<string, string> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
};

/** Rows of keyboards, the alphabet and digits: what people type without thinking. */
const runs = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890123456789',
  'qwertyuiop',
  'qwertzuiop',
  'azertyuiop',
  'asdfghjkl',
  'yxcvbnm',
  'zxcvbnm',
  '1q2w3e4r5t6y7u8i9o0p',
  '1qaz2wsx3edc4rfv5tgb',
  'qazwsxedcrfvtgb',
];
const reversed = (text: string) => [...text].reverse().join('');
const allRuns = [...runs, ...runs.map(reversed)];

const common = new Set(commonPasswords.split(/\s+/).filter((word) => word !== ''));

/**
 * What a new password must be ("must …"); undefined if it is good enough. Refused are common passwords and words with anything
 * but letters around them, repetitions, rows of the keyboard, and the person's own name and address.
 */
export function problemWithPassword(
  password: string,
  { name, email }: { name: string; email: string },
): string | undefined {
  const length = [...password].length;
  if (length < minPasswordLength) return `must have at least ${minPasswordLength} characters`;
  if (length > maxPasswordLength) return `must have at most ${maxPasswordLength} characters`;
  const plain = password.toLowerCase();
  if (isOwn(plain, [name, email, email.replace(/@.*$/, '')])) return 'must not be your name or your e-mail address';
  if (new Set(plain).size < 5) return 'must have more different characters';
  if (/^\d+$/.test(plain)) return 'must not be only digits';
  return [plain, withLetters(plain), withLetters(coreOf(plain))].some(isCommon)
    ? 'must not be a common password, a row of keys, or a common word with digits around it'
    : undefined;
}

const withLetters = (text: string) => [...text].map((character) => lookalikes[character] ?? character).join('');
const lettersOf = (text: string) => text.replaceAll(/[^\p{L}\p{N}]/gu, '');
/** Without what is not a letter around it. */
const coreOf = (text: string) => text.replaceAll(/^[^\p{L}]+|[^\p{L}]+$/gu, '');

const isOwn = (plain: string, own: string[]) =>
  own.map((text) => lettersOf(text.toLowerCase())).some((text) => text.length >= 4 && isAround(plain, text));

/** Whether nothing but digits and signs is around `text`. */
const isAround = (plain: string, text: string) =>
  lettersOf(plain) === text || lettersOf(plain).replaceAll(/^\d+|\d+$/g, '') === text || coreOf(plain) === text;

function isCommon(plain: string): boolean {
  const core = coreOf(plain);
  return [plain, core, lettersOf(core)].some((text) => common.has(text) || isRepeated(text) || isRuns(text));
}

/** Whether the text is one of the common ones, or any text of up to six characters, several times. */
function isRepeated(text: string): boolean {
  const [, part = ''] = /^(.+?)\1+$/u.exec(text) ?? [];
  return part !== '' && (part.length <= 6 || common.has(part));
}

/** Whether the text consists of pieces of rows, of at least four characters each. */
function isRuns(text: string): boolean {
  let rest = text;
  while (rest !== '') {
    let length = Math.min(rest.length, 26);
    while (length >= 4 && !allRuns.some((run) => run.includes(rest.slice(0, length)))) length--;
    if (length < 4) return false;
    rest = rest.slice(length);
  }
  return text !== '';
}
