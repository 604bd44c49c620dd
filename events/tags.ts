/** Tags are compared without regard to case, and shown as their owner writes them. */
export const normalizeTag = (tag: string): string => spellingOf(tag).toLowerCase();

export const spellingOf = (tag: string): string => tag.trim().normalize('NFC');

/** The tags of a code. */
export interface CodeTags {
  /** In lower case, each once; null if there are none. */
  tags: string[] | null;
  /** The same tags as their owner writes them; null if all of them are in lower case. */
  tag_names: string[] | null;
}

/** Separates tags, each once, from their spelling. Of two that differ only in case, the first one counts. */
export function tagsOf(spelled: readonly string[] | null): CodeTags {
  const byTag = new Map<string, string>();
  for (const name of spelled ?? []) if (!byTag.has(normalizeTag(name))) byTag.set(normalizeTag(name), name);
  const [tags, names] = [[...byTag.keys()], [...byTag.values()]];
  if (tags.length === 0) return { tags: null, tag_names: null };
  return { tags, tag_names: names.some((name, i) => name !== tags[i]) ? names : null };
}

/** Tags as their owner writes them. A process of an earlier version may have changed them without their spelling. */
export const spelledTags = ({ tags, tag_names }: CodeTags): string[] | null =>
  tags?.map((tag) => tag_names?.find((name) => normalizeTag(name) === tag) ?? tag) ?? null;
