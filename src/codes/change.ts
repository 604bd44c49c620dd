import { type Code, type CodeChange, type CodeEvent, changeCode, deleteCode, evolveCode } from '../../events/code.ts';
import type { Actor } from '../../events/recorded.ts';
import { applyState } from '../../projections/state.ts';
import { notFound } from '../lib/errors.ts';
import type { Sql } from '../log/connect.ts';
import { decideAndAppend } from '../log/decide.ts';
import { findCode, type Owner } from './codes.ts';

interface By {
  actor: Actor;
  now: Date;
}

/** The code as it is after the change. */
export const change = (sql: Sql, owner: Owner, id: string, wanted: CodeChange, by: By): Promise<Code> =>
  decideOn(sql, owner, id, (code) => changeCode(code, wanted), by);

export const remove = (sql: Sql, owner: Owner, id: string, by: By): Promise<Code> =>
  decideOn(sql, owner, id, deleteCode, by);

async function decideOn(
  sql: Sql,
  owner: Owner,
  id: string,
  decide: (code: Code) => CodeEvent[],
  by: By,
): Promise<Code> {
  const load = async () => {
    const code = await findCode(sql, owner, id);
    if (code === undefined) throw notFound('QR code');
    return code;
  };
  const { state, recorded } = await decideAndAppend<Code, CodeEvent>(sql, id, {
    load,
    decide,
    project: applyState,
    by,
  });
  return recorded.reduce<Code>(evolveCode, state);
}
