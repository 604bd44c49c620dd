import { type Code, type CodeChange, type CodeEvent, changeCode, deleteCode, evolveCode } from '../../events/code.ts';
import type { Actor, Recorded } from '../../events/recorded.ts';
import { applyState } from '../../projections/state.ts';
import { notFound } from '../lib/errors.ts';
import type { Sql, Transaction } from '../log/connect.ts';
import { decideAndAppend } from '../log/decide.ts';
import { type CountedCode, findCode, type Owner } from './codes.ts';
import { destroyVisitorKey } from './visitor-keys.ts';

interface By {
  actor: Actor;
  now: Date;
}

/** The code as it is now, and what was appended to make it so. */
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
  decide: (code: Code) => CodeEvent[],
  by: By,
): Promise<Changed> {
  const load = async () => {
    const code = await findCode(sql, owner, id);
    if (code === undefined) throw notFound('QR code');
    return code;
  };
  const project = async (tx: Transaction, events: Recorded<CodeEvent>[]) => {
    await applyState(tx, events);
    if (events.some(({ type }) => type === 'code_deleted')) await destroyVisitorKey(tx, id);
  };
  const { state, recorded } = await decideAndAppend<CountedCode, CodeEvent>(sql, id, { load, decide, project, by });
  const { total_scans, unique_scans } = state;
  return { code: { ...recorded.reduce<Code>(evolveCode, state), total_scans, unique_scans }, events: recorded };
}
