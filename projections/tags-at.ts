import type { Queryable } from '../src/lib/sql.ts';

/** The tags of codes at any position after the one that they were read for. */
export type TagsAt = (code: string, position: number) => readonly string[];

export const noTags: TagsAt = () => [];

/**
 * Reads the tags that codes had after position `after`: the tags of now, and each change of them in between. The log has both
 * in one snapshot, so the result does not depend on when this runs.
 */
export async function readTagsAfter(sql: Queryable, codes: readonly string[], after: number): Promise<TagsAt> {
  const rows = await sql<{ id: string; tags: string[] | null; changes: Change[] | null }[]>`
    SELECT c.id, c.tags, (
      SELECT json_agg(json_build_object('position', e.position, 'from', e.data -> 'from') ORDER BY e.version)
      FROM events e WHERE e.stream = c.id AND e.type = 'tags_changed' AND e.position > ${after}
    ) AS changes
    FROM codes c WHERE c.id = ANY(${[...new Set(codes)]})`;
  const byCode = new Map(rows.map(({ id, tags, changes }) => [id, { tags: tags ?? [], changes: changes ?? [] }]));
  return (code, position) => {
    const found = byCode.get(code);
    const next = found?.changes.find((change) => change.position > position);
    return (next === undefined ? found?.tags : next.from) ?? [];
  };
}

interface Change {
  position: number;
  from: string[] | null;
}
