import { isCodeEvent } from '../../events/catalogue.ts';
import type { CodeEvent } from '../../events/code-events.ts';
import type { Recorded } from '../../events/recorded.ts';
import type { Queryable } from '../lib/sql.ts';
import { readVersions } from '../log/read.ts';

/** Events of a code, newest first: versions greater than `after`, up to and including `to`. Versions start at 1. */
export async function historyOf(
  sql: Queryable,
  id: string,
  versions: { after: number; to: number },
): Promise<Recorded<CodeEvent>[]> {
  const events = await readVersions(sql, id, versions);
  return events.filter(isCodeEvent).reverse();
}
