import { Type as t } from '@sinclair/typebox';
import { problemWithName } from '../../../events/fields.ts';
import { languages } from '../../../events/languages.ts';
import { oneOf } from '../../../events/one-of.ts';
import type { Owner } from '../../../events/owner.ts';
import { normalizeTag } from '../../../events/tags.ts';
import type { Recipients } from '../../accounts/mail-recipients.ts';
import { codesWithIds } from '../../codes/codes.ts';
import { emailProblem, isEmailAddress } from '../../lib/email.ts';
import type { FieldError } from '../../lib/errors.ts';
import type { Queryable } from '../../lib/sql.ts';
import { exact, time } from './schemas.ts';

/** Fields that shared pages, reports and alerts have in common: a name, the codes that they are about, and addresses. */

export const maxTags = 20;

export const nameField = (description: string, example: string) =>
  t.String({ description, examples: [example], 'x-expected': 'a string of 1 to 255 characters' });

export const qrIdsField = (maxItems: number, description: string) =>
  t.Array(t.String(), { minItems: 1, maxItems, description, examples: [['qr_0VMNcq2hE3kx0dTtWq8LbY']] });

export const tagsField = (description: string, example: string) =>
  t.Array(t.String({ minLength: 1, maxLength: 255, pattern: '^[^\\u0000]*$', 'x-expected': 'a tag' }), {
    minItems: 1,
    maxItems: maxTags,
    description,
    examples: [[example]],
  });

/** What an owner sees of mails that do not arrive, besides the addresses. */
export const recipientFields = {
  unsubscribed: t.Array(t.String(), {
    examples: [[]],
    description:
      'Recipients in `to` who have unsubscribed. They get no mail until they subscribe again by their own link.',
  }),
  undelivered: t.Array(
    t.Object(
      {
        email: t.String({ description: 'The address.', examples: ['gone@example.com'] }),
        message: t.String({ description: 'What the mail server answered.', examples: ['550 no such user'] }),
        at: time('When.'),
      },
      exact,
    ),
    { description: 'Addresses whose last mail did not arrive.' },
  ),
};

export const presentRecipients = ({ to, unsubscribed, undelivered }: Recipients) => ({
  to,
  unsubscribed,
  undelivered: undelivered.map(({ email, message, at }) => ({ email, message, at: new Date(at).toISOString() })),
});

export const emailsField = (items: { minItems: number; maxItems: number }, description: string) =>
  t.Array(t.String({ maxLength: 254, 'x-expected': 'an e-mail address' }), {
    minItems: items.minItems,
    maxItems: items.maxItems,
    description,
    examples: [['ada@example.com']],
  });

export const languageField = (description: string) => oneOf(languages, { description, examples: ['de'] });

/** What is wrong with a name or with addresses that are given. */
export function nameAndAddressErrors({ name, to = [] }: { name?: string; to?: readonly string[] }): FieldError[] {
  const problem = name === undefined ? undefined : problemWithName(name);
  return [
    ...(problem === undefined ? [] : [{ field: 'name', message: `name ${problem}.` }]),
    ...to.flatMap((email, i) =>
      isEmailAddress(email.trim()) ? [] : [{ field: `to[${i}]`, message: `to[${i}] ${emailProblem}.` }],
    ),
  ];
}

/** Each address once, without regard to case. */
export const addressesOf = (to: readonly string[]): string[] => [
  ...new Map(to.map((email) => [email.trim().toLowerCase(), email.trim()])).values(),
];

/** Codes by their ids, or by tags in lower case; the other is null. */
export interface CodeChoice {
  codes: string[] | null;
  tags: string[] | null;
}

interface RequestedChoice {
  qr_ids?: readonly string[] | null;
  tags?: readonly string[] | null;
}

export const choiceOf = ({ qr_ids, tags }: RequestedChoice): CodeChoice =>
  Array.isArray(qr_ids)
    ? { codes: [...new Set(qr_ids)], tags: null }
    : { codes: null, tags: [...new Set((tags ?? []).map(normalizeTag))] };

/** What is wrong with a request that must choose codes by one of the two lists; `before` is what it replaces. */
export async function choiceErrors(
  sql: Queryable,
  owner: Owner,
  request: RequestedChoice,
  before?: CodeChoice,
): Promise<FieldError[]> {
  const errors: FieldError[] = [];
  if ((request.qr_ids === undefined) === (request.tags === undefined))
    errors.push({ field: 'qr_ids', message: 'One of qr_ids and tags is required, and not both.' });
  return [...errors, ...(await missingCodes(sql, owner, choiceOf(request), before))];
}

/**
 * An error for each of the codes that the owner does not have. A code of `before` may have been deleted since: a client that sends
 * the list back is not to blame.
 */
export async function missingCodes(
  sql: Queryable,
  owner: Owner,
  { codes }: CodeChoice,
  before?: CodeChoice,
): Promise<FieldError[]> {
  if (codes === null) return [];
  const found = await codesWithIds(sql, owner, codes);
  const missing = codes.filter((id) => !found.has(id) && !before?.codes?.includes(id));
  return missing.map((id) => ({ field: 'qr_ids', message: `qr_ids: there is no code ${id}.` }));
}
