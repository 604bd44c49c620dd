import { isCodeEvent } from '../../events/catalogue.ts';
import { type Code, evolveCode } from '../../events/code.ts';
import { Refusal } from '../lib/errors.ts';
import type { Queryable } from '../lib/sql.ts';
import { readLastOfTypes } from '../log/read.ts';

/**
 * A code after the event with this version; undefined if it has no such version. Events of one type set the same fields, so the last
 * one of each type is enough: a script can have changed the rules 100,000 times.
 */
export async function codeAtVersion(sql: Queryable, id: string, version: number): Promise<Code | undefined> {
  let code: Code | undefined;
  const events = await readLastOfTypes(sql, id, version);
  for (const event of events.filter(isCodeEvent)) code = evolveCode(code, event);
  return code?.version === version ? code : undefined;
}

/**
 * What a code was at a time: its newest version of until then. The clocks of instances may differ by some milliseconds, so a
 * version can have an earlier time than the one before; it still includes that one.
 *
 * @param current The code as it is now.
 */
export async function codeAsOf(sql: Queryable, current: Code, asOf: Date): Promise<Code> {
  if (current.updated_at <= asOf) return current;
  const [row] = await sql<[{ version: number | null }]>`
    SELECT max(version) AS version FROM events WHERE stream = ${current.id} AND occurred_at <= ${asOf}`;
  const code = row.version === null ? undefined : await codeAtVersion(sql, current.id, row.version);
  if (code !== undefined) return code;
  const [then, created] = [asOf, current.created_at].map((time) => time.toISOString());
  throw new Refusal('not_found', `This QR code did not exist at ${then}: it was created at ${created}.`);
}
