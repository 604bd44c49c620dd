import type { CodeChange } from './code.ts';
import type { Code, CodeFields } from './code-fields.ts';
import { normalizeTag, spelledTags } from './tags.ts';
import { urlsOfRules, withUrls } from './targeting/rule-ids.ts';

/** One change of many codes. */
export interface BulkChange {
  /** The same values for all of them. */
  set: Pick<CodeChange, 'destination_url' | 'active' | 'starts_at' | 'expires_at' | 'fallback_url' | 'tags'>;
  /** Replaces every occurrence of a text in the URLs of each code. */
  replace?: { find: string; with: string };
  /** Changes the tags of each code, instead of setting them. */
  tags?: { add: string[]; remove: string[] };
}

/** What a bulk change means for one code. */
export function changeFor(code: CodeFields, { set, replace, tags }: BulkChange): CodeChange {
  return {
    ...(replace === undefined ? {} : replacedUrls(code, replace)),
    ...set,
    ...(tags === undefined ? {} : { tags: changedTags(spelledTags(code) ?? [], tags) }),
  };
}

/** Only URLs that contain the text are part of the change. */
function replacedUrls(
  { destination_url, fallback_url, rules }: CodeFields,
  { find, with: text }: NonNullable<BulkChange['replace']>,
): CodeChange {
  const replaced = (url: string) => url.replaceAll(find, () => text);
  const change: CodeChange = {};
  if (destination_url.includes(find)) change.destination_url = replaced(destination_url);
  if (fallback_url?.includes(find)) change.fallback_url = replaced(fallback_url);
  if (rules && urlsOfRules(rules).some(({ url }) => url.includes(find))) change.rules = withUrls(rules, replaced);
  return change;
}

function changedTags(before: string[], { add, remove }: NonNullable<BulkChange['tags']>): string[] | null {
  const removed = new Set(remove.map(normalizeTag));
  const kept = before.filter((tag) => !removed.has(normalizeTag(tag)));
  const present = new Set(kept.map(normalizeTag));
  const after = [...kept, ...add.filter((tag) => !present.has(normalizeTag(tag)))];
  return after.length === 0 ? null : after;
}

/** Why a code stays as it is, in a sentence for people. */
export const whyUnchanged = ({ status }: Code, { set }: BulkChange): string =>
  status === 'draft' && set.active === false
    ? 'It is a draft, which cannot be paused.'
    : 'It already has these values, or nothing to replace.';
