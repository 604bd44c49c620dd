const control = /\p{Cc}/u;

/** What is wrong with the characters of a text of one line. */
export function problemWithLine(text: string): string | undefined {
  return control.test(text) || !text.isWellFormed() ? 'must not contain line breaks or control characters' : undefined;
}

/** What is wrong with the characters of a text of any number of lines. */
export function problemWithLines(text: string): string | undefined {
  return control.test(text.replaceAll(/[\r\n\t]/g, '')) || !text.isWellFormed()
    ? 'must not contain control characters other than line breaks and tabs'
    : undefined;
}

/** The digits of a phone number, as `tel:` and vCards have them; undefined if it is none. */
export function dialable(number: string): string | undefined {
  const digits = number.replaceAll(/[\s().\-/\u00A0\u2010-\u2013]/g, '');
  return /^\+?[0-9*#]{2,20}$/.test(digits) ? digits : undefined;
}

export const phoneProblem = 'must be a phone number of 2 to 20 digits, such as +49 30 901820';

/** An address that mail programs take: no quoted local part, no comment. */
export const isEmail = (address: string): boolean =>
  /^[^\s@"(),:;<>[\]\\]{1,64}@[^\s@"(),:;<>[\]\\]{1,255}$/u.test(address) && problemWithLine(address) === undefined;

export const emailProblem = 'must be an e-mail address, such as hello@example.com';
