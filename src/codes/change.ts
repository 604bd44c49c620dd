import { type Code, type CodeChange, changeCode, changePassword, deleteCode } from '../../events/code.ts';
import type { CodeChanged, CodeEvent } from '../../events/code-events.ts';
import type { Owner } from '../../events/owner.ts';
import { afterStart } from '../../events/read-fields.ts';
import type { Actor, Pending, Recorded } from '../../events/recorded.ts';
import { restoreCode } from '../../events/restore.ts';
import { writeState } from '../../projections/state.ts';
import { invalid } from '../lib/errors.ts';
import { newRuleId } from '../lib/ids.ts';
import type { Sql, Transaction } from '../lib/sql.ts';
import { decideAndAppend } from '../log/decide.ts';
import { type CountedCode, codeNotFound, findCode } from './codes.ts';
import { addUncounted, countUsed, lockLimits, readUsed } from './limits.ts';
import { type PasswordChange, removePassword, storePasswords } from './passwords.ts';
import { withAccountTimezone } from './rule-timezones.ts';
import { destroyVisitorKey } from './visitor-keys.ts';

interface By {
  actor: Actor;
  now: Date;
  /** Throws if the change was made for another version of the code. */
  checkVersion?: ((version: number) => void) | undefined;
}

/** A code after a change, and the events that the change appended. */
export interface Changed {
  code: CountedCode;
  events: Recorded<CodeEvent>[];
}

/** `password` is what the change does with the password, if anything. */
export async function change(
  sql: Sql,
  owner: Owner,
  id: string,
  wanted: CodeChange,
  by: By & { password?: PasswordChange | undefined },
): Promise<Changed> {
  const { password, ...others } = by;
  const [complete = wanted] = await withAccountTimezone(sql, owner.account, [wanted]);
  const decide = (code: Code) => [...decideChange(code, complete), ...decidePassword(code, password)];
  return decideOn(sql, owner, id, decide, others, password);
}

const decidePassword = (code: Code, password: PasswordChange | undefined): CodeChanged[] =>
  password === undefined ? [] : changePassword(code, password === 'remove' ? 'remove' : 'set');

function decideChange(code: Code, wanted: CodeChange): CodeChanged[] {
  const { starts_at, expires_at } = { ...code, ...wanted };
  if (starts_at && expires_at && starts_at >= expires_at) {
    const field = wanted.expires_at === undefined ? 'starts_at' : 'expires_at';
    const problem = field === 'expires_at' ? afterStart : 'must be before expires_at';
    throw invalid([{ field, message: `${field} ${problem}.` }]);
  }
  return changeCode(code, wanted, newRuleId);
}

export const remove = (sql: Sql, owner: Owner, id: string, by: By): Promise<Changed> =>
  decideOn(sql, owner, id, deleteCode, by);

/** Restores what a code was at an earlier version; `then` is the code at that version. */
export const restore = (sql: Sql, owner: Owner, then: Code, by: By): Promise<Changed> =>
  decideOn(sql, owner, then.id, (code) => restoreCode(code, then), by);

async function decideOn(
  sql: Sql,
  owner: Owner,
  id: string,
  decide: (code: Code) => CodeChanged[],
  { checkVersion, ...by }: By,
  password?: PasswordChange,
): Promise<Changed> {
  const { state, recorded, projected } = await decideAndAppend<CountedCode, CodeChanged, Written>(sql, id, {
    load: () => loadCode(sql, owner, id),
    decide(code) {
      checkVersion?.(code.version);
      return decide(code);
    },
    project: (tx, before, events) => writeCode(tx, before, events, password),
    underLock: (tx, { countedTo }) => (countedTo === undefined ? [] : [addUncounted(tx, [id], countedTo)]),
    by,
  });
  const code = projected?.code ?? state;
  const { total_scans, unique_scans } = state;
  const wasLimited = state.max_scans !== null;
  const used_scans = code.max_scans === null ? null : wasLimited ? state.used_scans : await readUsed(sql, id);
  return { code: { ...code, total_scans, unique_scans, used_scans }, events: recorded };
}

/** Whether a code without a limit gets one: its scans until then are counted. */
export const isLimitSet = (event: CodeChanged) => event.type === 'limit_changed' && event.data.from === null;

async function loadCode(sql: Sql, owner: Owner, id: string): Promise<CountedCode> {
  const code = await findCode(sql, owner, id);
  if (code === undefined) throw await codeNotFound(sql, owner, id);
  return code;
}

interface Written {
  code: Code | undefined;
  /** The position up to which the scans of a code that gets a limit are counted. */
  countedTo: number | undefined;
}

async function writeCode(
  tx: Transaction,
  before: Code,
  events: Pending<CodeChanged>[],
  password: PasswordChange | undefined,
): Promise<Written> {
  const isLimited = events.some(isLimitSet);
  // A scan of a limited code locks its counter first: so must a change of the limit.
  if (isLimited) await lockLimits(tx, [before.id]);
  const { codes } = await writeState(tx, { codes: [before] }, events);
  const isDeleted = events.some(({ type }) => type === 'code_deleted');
  if (isDeleted) await destroyVisitorKey(tx, before.id);
  if (isDeleted || password === 'remove') await removePassword(tx, before.id);
  else if (password !== undefined) await storePasswords(tx, [{ code: before.id, hash: password.hash }]);
  return { code: codes[0], countedTo: isLimited ? await countUsed(tx, [before.id]) : undefined };
}
