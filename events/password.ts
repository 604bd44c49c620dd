const maxLength = 128;

/** What is wrong with the password of a code ("must …"), or undefined. */
export function problemWithPassword(password: unknown): string | undefined {
  const isText = typeof password === 'string' && password.length >= 1 && [...password].length <= maxLength;
  return isText ? undefined : `must be a text of 1 to ${maxLength} characters, or null`;
}
