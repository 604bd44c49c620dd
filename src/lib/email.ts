/** RFC 5321 allows 254 characters in a path, and 64 before the "@". */
const maxLength = 254;
const maxLocalLength = 64;
/** Without quoted local parts and address literals, which people mistype more often than they have them. */
const pattern =
  /^[^\s@"(),:;<>[\\\]\p{Cc}]+@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+[\p{L}\p{N}-]{2,63}$/u;

export const emailProblem = 'must be an e-mail address such as ada@example.com';

/** Whether a text can be the address of a mailbox. Whether there is one, only a mail shows. */
export function isEmailAddress(text: string): boolean {
  const local = text.slice(0, text.lastIndexOf('@'));
  return (
    text.length <= maxLength && local.length <= maxLocalLength && pattern.test(text) && !/^\.|\.\.|\.$/.test(local)
  );
}
