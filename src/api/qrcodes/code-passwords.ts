import { Type as t } from '@sinclair/typebox';
import type { PasswordChange } from '../../codes/passwords.ts';
import { readPasswordHash } from '../../codes/passwords.ts';
import { type FieldError, invalid } from '../../lib/errors.ts';
import { hashPassword, isPassword } from '../../lib/passwords.ts';
import type { Queryable } from '../../lib/sql.ts';
import { orNull } from '../http/schemas.ts';

/** Each takes about 80 ms of a core. */
const maxPerRequest = 20;

export const password = t.Optional(
  orNull(
    t.String({
      description: `A password that the short link asks for before it redirects, of 1 to 128 characters; null for none. Never returned: see \`has_password\`. At most ${maxPerRequest} codes of a bulk create can have one.`,
      examples: ['open sesame'],
      'x-expected': 'a text of 1 to 128 characters, or null',
    }),
  ),
);

export const hasPassword = t.Optional(
  t.Boolean({ description: 'Present and true if the short link asks for a password.' }),
);

/** The hashes of the passwords of a request, in its order. Throws 400 for too many. */
export async function hashAll(given: (string | undefined)[]): Promise<(string | undefined)[]> {
  const [first, ...rest] = given
    .flatMap((text, index) => (text === undefined ? [] : [index]))
    .slice(maxPerRequest)
    .map(
      (index): FieldError => ({
        index,
        field: 'password',
        message: `password: at most ${maxPerRequest} codes of a request can have one.`,
      }),
    );
  if (first !== undefined) throw invalid([first, ...rest]);
  return Promise.all(given.map((text) => (text === undefined ? undefined : hashPassword(text))));
}

/** What a change does with the password; undefined if the code has this one already. */
export async function passwordChangeOf(
  sql: Queryable,
  code: string,
  given: string | null | undefined,
): Promise<PasswordChange | undefined> {
  if (given === undefined) return undefined;
  if (given === null) return 'remove';
  const present = await readPasswordHash(sql, code);
  // While many others wait, it is set again, which changes nothing for visitors.
  const isSame = present !== undefined && (await isPassword(given, present).catch(() => false));
  return isSame ? undefined : { hash: await hashPassword(given) };
}
