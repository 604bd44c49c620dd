import {
  type Code,
  type CodeChange,
  type CodeChanged,
  type CodeEvent,
  changeCode,
  deleteCode,
} from '../../events/code.ts';
import type { Owner } from '../../events/owner.ts';
import type { Actor, Pending, Recorded } from '../../events/recorded.ts';
import { writeState } from '../../projections/state.ts';
import type { Sql, Transaction } from '../log/connect.ts';
import { decideAndAppend } from '../log/decide.ts';
import { type CountedCode, codeNotFound, findCode } from './codes.ts';
import { destroyVisitorKey } from './visitor-keys.ts';

interface By {
  actor: Actor;
  now: Date;
}

/** A code after a change, and the events that the change appended. */
export interface Changed {
  code: CountedCode;
  events: Recorded<CodeEvent>[];
}

export const change = (sql: Sql, owner: Owner, id: string, wanted: CodeChange, by: By): Promise<Changed> =>
  decideOn(sql, owner, id, (code) => changeCode(code, wanted), by);

export const remove = (sql: Sql, owner: Owner, id: string, by: By): Promise<Changed> =>
  decideOn(sql, owner, id, deleteCode, by);

async function decideOn(
  sql: Sql,
  owner: Owner,
  id: string,
  decide: (code: Code) => CodeChanged[],
  by: By,
): Promise<Changed> {
  const { state, recorded, projected } = await decideAndAppend<CountedCode, CodeChanged, Code | undefined>(sql, id, {
    load: () => loadCode(sql, owner, id),
    decide,
    project: writeCode,
    by,
  });
  const { total_scans, unique_scans } = state;
  return { code: { ...(projected ?? state), total_scans, unique_scans }, events: recorded };
}

async function loadCode(sql: Sql, owner: Owner, id: string): Promise<CountedCode> {
  const code = await findCode(sql, owner, id);
  if (code === undefined) throw await codeNotFound(sql, owner, id);
  return code;
}

async function writeCode(tx: Transaction, before: Code, events: Pending<CodeChanged>[]): Promise<Code | undefined> {
  const isDeleted = events.some(({ type }) => type === 'code_deleted');
  const [{ codes }] = await Promise.all([
    writeState(tx, { codes: [before] }, events),
    isDeleted && destroyVisitorKey(tx, before.id),
  ]);
  return codes[0];
}
