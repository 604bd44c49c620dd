import type { GivenRule } from '../../events/targeting/rule-ids.ts';
import type { Queryable } from '../lib/sql.ts';

/** Whether a rule depends on a time zone and names none. */
const lacksTimezone = ({ when = {} }: GivenRule) =>
  when.timezone === undefined && (when.days !== undefined || when.hours !== undefined);

/**
 * Gives rules that name no time zone the time zone of the account. It is stored with the rule: edges need no other data than the
 * code's, and a later change of the account moves no opening hours of printed codes.
 */
export async function withAccountTimezone<T extends { rules?: GivenRule[] | null }>(
  sql: Queryable,
  account: string,
  changes: T[],
): Promise<T[]> {
  if (!changes.some(({ rules }) => rules?.some(lacksTimezone))) return changes;
  const timezone = await timezoneOf(sql, account);
  if (timezone === 'UTC') return changes;
  return changes.map((change) =>
    change.rules ? { ...change, rules: change.rules.map((rule) => inTimezone(rule, timezone)) } : change,
  );
}

/**
 * Rules of a code for a copy of it. Those that name no time zone were written while the account had UTC: they name it in
 * the copy if the account has another by now, which they would get otherwise.
 */
export async function rulesToCopy(sql: Queryable, account: string, rules: GivenRule[]): Promise<GivenRule[]> {
  if (!rules.some(lacksTimezone) || (await timezoneOf(sql, account)) === 'UTC') return rules;
  return rules.map((rule) => inTimezone(rule, 'UTC'));
}

async function timezoneOf(sql: Queryable, account: string): Promise<string> {
  const [row] = await sql<{ timezone: string | null }[]>`SELECT timezone FROM accounts WHERE id = ${account}`;
  return row?.timezone ?? 'UTC';
}

const inTimezone = (rule: GivenRule, timezone: string): GivenRule =>
  lacksTimezone(rule) ? { ...rule, when: { ...rule.when, timezone } } : rule;
