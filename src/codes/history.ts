import { isCodeEvent } from '../../events/catalogue.ts';
import type { CodeEvent } from '../../events/code.ts';
import type { Recorded } from '../../events/recorded.ts';
import type { Queryable } from '../log/connect.ts';
import { readVersions } from '../log/read.ts';

/** What was done to a code, newest first: versions after `after` up to `to`, of which the first is 1. */
export async function historyOf(
  sql: Queryable,
  id: string,
  versions: { after: number; to: number },
): Promise<Recorded<CodeEvent>[]> {
  const events = await readVersions(sql, id, versions);
  return events.filter(isCodeEvent).reverse();
}
