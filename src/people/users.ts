import { problemWithName } from '../../events/fields.ts';
import { type FieldError, Refusal } from '../lib/errors.ts';
import { isId } from '../lib/ids.ts';
import type { Queryable } from '../lib/sql.ts';
import { violates } from '../log/connect.ts';
import { deleteResetLinks } from './links.ts';

/** A person, who can be a member of several accounts. */
export interface User {
  id: string;
  name: string;
  email: string;
  /** Null for an address that anyone may have entered. */
  email_confirmed_at: Date | null;
  /** argon2id; null for a person who signs in with something else. */
  password_hash: string | null;
  is_operator: boolean;
  created_at: Date;
  last_signed_in_at: Date | null;
  disabled_at: Date | null;
}

const columns = (sql: Queryable) =>
  sql`u.id, u.name, u.email, u.email_confirmed_at, u.password_hash, u.is_operator, u.created_at, u.last_signed_in_at, u.disabled_at`;

export async function findUser(sql: Queryable, id: string): Promise<User | undefined> {
  const [user] = isId('usr', id) ? await sql<User[]>`SELECT ${columns(sql)} FROM users u WHERE u.id = ${id}` : [];
  return user;
}

/** Addresses are compared without case. */
export async function findUserByEmail(sql: Queryable, email: string): Promise<User | undefined> {
  const [user] = await sql<User[]>`SELECT ${columns(sql)} FROM users u WHERE lower(u.email) = lower(${email.trim()})`;
  return user;
}

export const listUsers = (sql: Queryable): Promise<(User & { accounts: number })[]> =>
  sql<(User & { accounts: number })[]>`
    SELECT ${columns(sql)}, (SELECT count(*)::int FROM members m WHERE m.user_id = u.id) AS accounts
    FROM users u ORDER BY u.created_at, u.id`;

export const hasUsers = async (sql: Queryable): Promise<boolean> => (await sql`SELECT FROM users LIMIT 1`).length > 0;

const maxEmailLength = 254;

/** What an address must be ("must …"); undefined if it is valid. Only a mail server knows whether it exists. */
export function problemWithEmail(email: string): string | undefined {
  if (email.length > maxEmailLength) return `must have at most ${maxEmailLength} characters`;
  return /^[^\s@<>"(),:;\\\p{Cc}]+@[^\s@<>"(),:;\\\p{Cc}]+$/u.test(email)
    ? undefined
    : 'must be an e-mail address such as ana@example.com';
}

/** A name and an address without surrounding spaces, and what is wrong with them. */
export function readPerson({ name, email }: { name: string; email: string }): {
  person: { name: string; email: string };
  errors: FieldError[];
} {
  const person = { name: name.trim(), email: email.trim() };
  const problems = { name: problemWithName(person.name), email: problemWithEmail(person.email) };
  const errors = Object.entries(problems).flatMap(([field, problem]) =>
    problem === undefined ? [] : [{ field, message: `${field} ${problem}.` }],
  );
  return { person, errors };
}

export interface NewUser {
  id: string;
  name: string;
  email: string;
  password_hash: string | null;
}

/** Stores a person; throws 409 if another has the address. */
export async function insertUser(
  sql: Queryable,
  { id, name, email, password_hash }: NewUser,
  { now, isOperator = false, isConfirmed = false }: { now: Date; isOperator?: boolean; isConfirmed?: boolean },
): Promise<void> {
  await takingEmail(
    sql`
      INSERT INTO users (id, name, email, email_confirmed_at, password_hash, is_operator, created_at)
      VALUES (${id}, ${name}, ${email}, ${isConfirmed ? now : null}, ${password_hash}, ${isOperator}, ${now})`,
  );
}

/** Changes name and address; throws 409 if another has the address. */
export async function updateUser(
  sql: Queryable,
  id: string,
  { name, email }: { name?: string | undefined; email?: string | undefined },
): Promise<void> {
  await takingEmail(
    sql`
      UPDATE users SET name = coalesce(${name ?? null}, name), email = coalesce(${email ?? null}, email),
        email_confirmed_at = CASE WHEN lower(coalesce(${email ?? null}, email)) = lower(email) THEN email_confirmed_at END
      WHERE id = ${id}`,
  );
}

async function takingEmail(writing: PromiseLike<unknown>): Promise<void> {
  try {
    await writing;
  } catch (error) {
    if (!violates(error, 'users_email')) throw error;
    throw new Refusal('conflict', 'Another person has this e-mail address.', [
      { field: 'email', message: 'email belongs to another person.' },
    ]);
  }
}

/** Sets the password, and voids the links that would set another. */
export async function storePassword(sql: Queryable, user: string, password_hash: string): Promise<void> {
  await sql`UPDATE users SET password_hash = ${password_hash} WHERE id = ${user}`;
  await deleteResetLinks(sql, user);
}
