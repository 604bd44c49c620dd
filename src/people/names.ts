import { actorParts } from '../../events/actor.ts';
import type { Queryable } from '../lib/sql.ts';

/** What a person who was deleted is called. */
export const formerMember = 'a former member';

/** What a person is called who acts as operator in an account of others. */
const operatorName = 'the operator';

/**
 * The present names of the keys and people that caused events of an account. The operator and the service have none, and people who
 * acted as operators are not named: accounts that they suspend must not learn who they are.
 *
 * @example (await actorNames(sql, account, events.map(({ actor }) => actor))).get('key_…') // 'CI'
 */
export async function actorNames(
  sql: Queryable,
  account: string,
  actors: readonly string[],
): Promise<Map<string, string>> {
  const known = [...new Set(actors)].filter((actor) => /^(key|usr)_/.test(actor));
  if (known.length === 0) return new Map();
  const ids = known.map((actor) => actorParts(actor).id);
  const rows = await sql<{ id: string; name: string }[]>`
    SELECT id, name FROM api_keys WHERE id = ANY(${ids})
    UNION ALL
    SELECT u.id, CASE WHEN u.is_operator AND m.user_id IS NULL THEN ${operatorName} ELSE u.name END
    FROM users u LEFT JOIN members m ON m.user_id = u.id AND m.account = ${account} WHERE u.id = ANY(${ids})`;
  const nameOf = new Map(rows.map(({ id, name }) => [id, name]));
  const names = new Map<string, string>();
  for (const actor of known) {
    const { id, client } = actorParts(actor);
    const name = nameOf.get(id) ?? (id.startsWith('usr_') ? formerMember : undefined);
    if (name !== undefined) names.set(actor, client === undefined ? name : `${client} with ${name}`);
  }
  return names;
}
