import { type Role, roles } from '../../events/member.ts';
import { operator } from '../../events/recorded.ts';
import { findAccount } from '../accounts/accounts.ts';
import { StartError } from '../lib/errors.ts';
import type { Sql } from '../lib/sql.ts';
import { deleteUser } from '../people/delete.ts';
import { createResetLink, disableUser, enableUser, removeCodes, setOperator } from '../people/disable.ts';
import { urlOfLink } from '../people/links.ts';
import type { Origin } from '../people/security-changes.ts';
import { findUserByEmail, listUsers, type User } from '../people/users.ts';
import { noAccount } from './account.ts';
import { admit, presentAdmitted, printAdmitted, readEmail } from './admit.ts';
import { findMail, findPublicUrl, withDatabase } from './connection.ts';
import { ask, bold, print, printJson, table } from './terminal.ts';

interface Options {
  data: string;
  json?: boolean;
}

/** A command of the operator, of which people are told by mail where SMTP_URL is set. */
const originOf = (data: string): Origin => ({ actor: operator, now: new Date(), mail: findMail(data) });

async function requireUser(sql: Sql, email: string): Promise<User> {
  const user = await findUserByEmail(sql, email);
  if (user === undefined)
    throw new StartError(`There is no person with the address ${email}: run ./scanlog user list to see all people.`);
  return user;
}

export async function userList({ data, json }: Options): Promise<void> {
  const users = await withDatabase(data, (sql) => listUsers(sql));
  const listed = users.map((user) => ({
    user_id: user.id,
    email: user.email,
    name: user.name,
    accounts: user.accounts,
    operator: user.is_operator,
    disabled: user.disabled_at !== null,
    created_at: user.created_at.toISOString(),
    last_signed_in_at: user.last_signed_in_at?.toISOString() ?? null,
  }));
  if (json) return printJson(listed);
  const rows = listed.map(({ user_id, email, accounts, operator: isOperator, disabled, last_signed_in_at, name }) => [
    user_id,
    email,
    String(accounts),
    last_signed_in_at ?? 'never',
    [isOperator ? 'operator' : [], disabled ? 'disabled' : []].flat().join(', '),
    name,
  ]);
  print(table([['USER', 'E-MAIL', 'ACCOUNTS', 'LAST SIGNED IN', 'STATE', 'NAME'], ...rows]));
}

function readRole(text: string): Role {
  const role = roles.find((candidate) => candidate === text);
  if (role === undefined) throw new StartError(`--role must be one of ${roles.join(', ')}, not ${text}.`);
  return role;
}

export async function userInvite(address: string, options: Options & { account: string; role: string }): Promise<void> {
  const { data, json, account } = options;
  const [email, role] = [readEmail(address), readRole(options.role)];
  const admitted = await withDatabase(data, async (sql) => {
    if ((await findAccount(sql, account)) === undefined) throw noAccount(account);
    return admit(sql, data, { email, account, role });
  });
  if (json) return printJson({ account_id: account, ...presentAdmitted(admitted) });
  printAdmitted(admitted);
}

/** The way back in for a person who has lost the password, or with `removeCodes` the app for one-time codes as well. */
export async function userReset(
  email: string,
  { data, json, removeCodes: isWithoutCodes = false }: Options & { removeCodes?: boolean },
): Promise<void> {
  const { user, token, expires_at, isMailed } = await withDatabase(data, async (sql) => {
    const found = await requireUser(sql, email);
    const origin = originOf(data);
    if (isWithoutCodes) await removeCodes(sql, found.id, origin);
    return { user: found, ...(await createResetLink(sql, found.id, origin)) };
  });
  const url = urlOfLink(findPublicUrl(data), 'reset', token);
  if (json) return printJson({ user_id: user.id, url, expires_at: expires_at.toISOString(), is_mailed: isMailed });
  print(`${user.name} sets a new password with this link, once, until ${expires_at.toISOString()}:\n`);
  print(`  ${bold(url)}`);
  if (isMailed) print(`\nIt is mailed to ${user.email}, too.`);
  if (isWithoutCodes) print('\nOne-time codes of the person are turned off.');
  if (user.disabled_at !== null) print(`\nThe person is disabled: run ./scanlog user enable ${user.email} as well.`);
}

export async function userDisable(email: string, { data, json }: Options): Promise<void> {
  const user = await withDatabase(data, async (sql) => {
    const found = await requireUser(sql, email);
    await disableUser(sql, found.id, originOf(data));
    return found;
  });
  if (json) return printJson({ user_id: user.id, disabled: true });
  print(`${user.email} is signed out everywhere, and cannot sign in. Memberships and API keys stay.`);
}

export async function userEnable(email: string, { data, json }: Options): Promise<void> {
  const user = await withDatabase(data, async (sql) => {
    const found = await requireUser(sql, email);
    await enableUser(sql, found.id, { actor: operator, now: new Date() });
    return found;
  });
  if (json) return printJson({ user_id: user.id, disabled: false });
  print(`${user.email} can sign in again.`);
}

export async function userOperator(email: string, state: 'on' | 'off', { data, json }: Options): Promise<void> {
  const isOperator = state === 'on';
  const user = await withDatabase(data, async (sql) => {
    const found = await requireUser(sql, email);
    await setOperator(sql, found.id, isOperator, { actor: operator, now: new Date() });
    return found;
  });
  if (json) return printJson({ user_id: user.id, operator: isOperator });
  print(`${user.email} is ${isOperator ? '' : 'no longer '}operator of this service.`);
}

export async function userDelete(
  email: string,
  { data, json, yes = false }: Options & { yes?: boolean },
): Promise<void> {
  const user = await withDatabase(data, async (sql) => {
    const found = await requireUser(sql, email);
    if (!yes) await confirm(found);
    await deleteUser(sql, found.id, { actor: operator, now: new Date() });
    return found;
  });
  if (json) return printJson({ user_id: user.id, deleted: true });
  print(`${user.email} is deleted. The log names ${user.id}, which is shown as a former member. Accounts stay.`);
}

async function confirm({ name, email }: User): Promise<void> {
  if (!process.stdin.isTTY)
    throw new StartError(`Deleting ${email} (${name}) cannot be undone: repeat the command with --yes.`);
  const answer = await ask(`Deleting ${name} cannot be undone. Type ${email} to delete the person: `);
  if (answer.toLowerCase() !== email.toLowerCase())
    throw new StartError('No one was deleted: the address did not match.');
}
