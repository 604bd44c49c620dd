import type { Static } from '@sinclair/typebox';
import { timezoneOf } from '../../../events/account.ts';
import { problemWithName } from '../../../events/fields.ts';
import type { Owner } from '../../../events/owner.ts';
import type { ReportSettings } from '../../../events/report.ts';
import { normalizeTag } from '../../../events/tags.ts';
import { timeZoneNamed, timeZoneProblem } from '../../../events/targeting/local-time.ts';
import { findAccount } from '../../accounts/accounts.ts';
import { codesWithIds } from '../../codes/codes.ts';
import { emailProblem, isEmailAddress } from '../../lib/email.ts';
import { type FieldError, invalid } from '../../lib/errors.ts';
import type { Service } from '../service.ts';
import type { ReportChange } from './schemas.ts';

type Request = Static<typeof ReportChange>;

/** The time zone that a request names, or the time zone of the account; throws 400. */
export async function readZone({ sql }: Pick<Service, 'sql'>, { account }: Owner, given: string | undefined) {
  if (given === undefined) return timezoneOf((await findAccount(sql, account)) ?? { timezone: null });
  const named = timeZoneNamed(given);
  if (named === undefined) throw invalid([{ field: 'timezone', message: `timezone ${timeZoneProblem}.` }]);
  return named;
}

type Selection = Pick<ReportSettings, 'codes' | 'tags'>;

/** The codes or tags that a request names; throws 400 unless it is one of the two. */
export async function readSelection(
  { sql }: Pick<Service, 'sql'>,
  owner: Owner,
  { qr_ids, tags }: Pick<Request, 'qr_ids' | 'tags'>,
): Promise<Selection> {
  if ((qr_ids === undefined) === (tags === undefined))
    throw invalid([{ field: 'qr_ids', message: 'One of qr_ids and tags is required, and not both.' }]);
  if (qr_ids === undefined) return { codes: null, tags: [...new Set((tags ?? []).map(normalizeTag))] };
  const codes = [...new Set(qr_ids)];
  const found = await codesWithIds(sql, owner, codes);
  const missing = codes.filter((id) => !found.has(id));
  refuse(missing.map((id) => ({ field: 'qr_ids', message: `qr_ids: there is no code ${id}.` })));
  return { codes, tags: null };
}

/** Throws 400 for a name or an address that is none. */
export function checkSettings({ name, to = [] }: Pick<Request, 'name' | 'to'>): void {
  const errors: FieldError[] = [];
  const problem = name === undefined ? undefined : problemWithName(name);
  if (problem !== undefined) errors.push({ field: 'name', message: `name ${problem}.` });
  for (const [i, email] of to.entries())
    if (!isEmailAddress(email.trim())) errors.push({ field: `to[${i}]`, message: `to[${i}] ${emailProblem}.` });
  refuse(errors);
}

/** Each address once, without regard to case. */
export const addressesOf = (to: readonly string[]): string[] => [
  ...new Map(to.map((email) => [email.trim().toLowerCase(), email.trim()])).values(),
];

function refuse(errors: FieldError[]): void {
  const [first, ...rest] = errors;
  if (first !== undefined) throw invalid([first, ...rest]);
}
