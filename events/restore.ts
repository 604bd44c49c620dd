import { type Code, changeTo, type ReadyChange } from './code.ts';
import type { CodeChanged } from './code-events.ts';

/**
 * What a restore brings back. `status` is not part of it: whether a code is paused is a decision about the present, and
 * bringing back an old destination must neither start nor stop a code.
 */
export function contentOf(code: Code): ReadyChange {
  const { name, destination_url, rules, starts_at, expires_at, max_scans, fallback_url, forward_query, utm, tags } =
    code;
  return { name, destination_url, rules, starts_at, expires_at, max_scans, fallback_url, forward_query, utm, tags };
}

/** The events that give a code the content of an earlier version; none if it has that content. Rules keep their ids. */
export function restoreCode(code: Code, then: Code): CodeChanged[] {
  const events = changeTo(code, contentOf(then));
  return events.length === 0 ? [] : [{ type: 'code_restored', data: { version: then.version } }, ...events];
}
