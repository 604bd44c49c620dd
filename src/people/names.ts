import { actorParts } from '../../events/actor.ts';
import type { Queryable } from '../lib/sql.ts';

/** What a person who was deleted is called. */
export const formerMember = 'a former member';

/**
 * The present names of the keys and people that caused events. The operator and the service have none.
 *
 * @example (await actorNames(sql, events.map(({ actor }) => actor))).get('key_…') // 'CI'
 */
export async function actorNames(sql: Queryable, actors: readonly string[]): Promise<Map<string, string>> {
  const known = [...new Set(actors)].filter((actor) => /^(key|usr)_/.test(actor));
  if (known.length === 0) return new Map();
  const ids = known.map((actor) => actorParts(actor).id);
  const rows = await sql<{ id: string; name: string }[]>`
    SELECT id, name FROM api_keys WHERE id = ANY(${ids}) UNION ALL SELECT id, name FROM users WHERE id = ANY(${ids})`;
  const nameOf = new Map(rows.map(({ id, name }) => [id, name]));
  const names = new Map<string, string>();
  for (const actor of known) {
    const { id, client } = actorParts(actor);
    const name = nameOf.get(id) ?? (id.startsWith('usr_') ? formerMember : undefined);
    if (name !== undefined) names.set(actor, client === undefined ? name : `${client} with ${name}`);
  }
  return names;
}
