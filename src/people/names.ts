import type { Queryable } from '../lib/sql.ts';

/** What a person who was deleted is called. */
export const formerMember = 'a former member';

/**
 * The present names of the keys and people that caused events. The operator and the service have none.
 *
 * @example (await actorNames(sql, events.map(({ actor }) => actor))).get('key_…') // 'CI'
 */
export async function actorNames(sql: Queryable, actors: readonly string[]): Promise<Map<string, string>> {
  const ids = [...new Set(actors)].filter((actor) => /^(key|usr)_/.test(actor));
  if (ids.length === 0) return new Map();
  const rows = await sql<{ id: string; name: string }[]>`
    SELECT id, name FROM api_keys WHERE id = ANY(${ids}) UNION ALL SELECT id, name FROM users WHERE id = ANY(${ids})`;
  const names = new Map(rows.map(({ id, name }) => [id, name]));
  for (const id of ids) if (id.startsWith('usr_') && !names.has(id)) names.set(id, formerMember);
  return names;
}
