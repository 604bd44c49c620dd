import {
  type Code,
  type CodeChange,
  type CodeChanged,
  type CodeEvent,
  changeCode,
  deleteCode,
  evolveCode,
} from '../../events/code.ts';
import type { Actor, Pending, Recorded } from '../../events/recorded.ts';
import { writeState } from '../../projections/state.ts';
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
  decide: (code: Code) => CodeChanged[],
  by: By,
): Promise<Changed> {
  const load = async () => {
    const code = await findCode(sql, owner, id);
    if (code === undefined) throw notFound('QR code');
    return code;
  };
  const project = async (tx: Transaction, code: CountedCode, events: Pending<CodeChanged>[]) => {
    const isDeleted = events.some(({ type }) => type === 'code_deleted');
    await Promise.all([writeState(tx, { codes: [code] }, events), isDeleted && destroyVisitorKey(tx, id)]);
  };
  const { state, recorded } = await decideAndAppend<CountedCode, CodeChanged>(sql, id, { load, decide, project, by });
  const { total_scans, unique_scans } = state;
  return { code: { ...recorded.reduce<Code>(evolveCode, state), total_scans, unique_scans }, events: recorded };
}
