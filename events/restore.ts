import type { Code } from './code.ts';
import { changeTo, fieldsOf } from './code-change.ts';
import type { CodeChanged } from './code-events.ts';

/**
 * The events that give a code the fields of an earlier version; none if it has them. Rules keep their ids. `status` stays:
 * whether a code is paused is a decision about the present, and bringing back an old destination must neither start nor stop a
 * code.
 */
export function restoreCode(code: Code, then: Code): CodeChanged[] {
  const events = changeTo(code, fieldsOf(then));
  return events.length === 0 ? [] : [{ type: 'code_restored', data: { version: then.version } }, ...events];
}
