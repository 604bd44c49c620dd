import { type Code, disableCode, enableCode } from '../../events/code.ts';
import type { CodeChanged } from '../../events/code-events.ts';
import { type Actor, operator, type Recorded } from '../../events/recorded.ts';
import { foldShortCode } from '../../events/short-code.ts';
import { writeState } from '../../projections/state.ts';
import { notFound } from '../lib/errors.ts';
import type { Queryable, Sql } from '../lib/sql.ts';
import { decideAndAppend } from '../log/decide.ts';

/** Finds a code of any account by id or, like the edge, by short code; deleted codes are not found. */
export async function findAnyCode(sql: Queryable, idOrShortCode: string): Promise<Code | undefined> {
  const [code] = await sql<Code[]>`
    SELECT * FROM codes
    WHERE id = ANY(ARRAY(
      SELECT id FROM codes WHERE id = ${idOrShortCode} OR short_code = ${idOrShortCode}
      UNION ALL
      SELECT id FROM codes
      WHERE folded_given_code(short_code, short_code_given) = ${foldShortCode(idOrShortCode)}
    ))
    ORDER BY id = ${idOrShortCode} DESC, short_code = ${idOrShortCode} DESC, id LIMIT 1`;
  return code?.status === 'deleted' ? undefined : code;
}

/** Disables a code's short link. The owner sees the reason and cannot undo it. */
export const takeDown = (sql: Sql, id: string, reason: string, now: Date, actor = operator) =>
  operateOn(sql, id, { actor, now }, (code) => disableCode(code, reason));

export const restore = (sql: Sql, id: string, now: Date, actor = operator) =>
  operateOn(sql, id, { actor, now }, enableCode);

async function operateOn(
  sql: Sql,
  id: string,
  by: { actor: Actor; now: Date },
  decide: (code: Code) => CodeChanged[],
): Promise<Recorded<CodeChanged>[]> {
  const { recorded } = await decideAndAppend<Code, CodeChanged>(sql, id, {
    load: async () => {
      const code = await findAnyCode(sql, id);
      if (code === undefined) throw notFound('QR code');
      return code;
    },
    decide,
    project: (tx, code, events) => writeState(tx, { codes: [code] }, events),
    by,
  });
  return recorded;
}
