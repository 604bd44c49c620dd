import { isCodeEvent } from '../../events/catalogue.ts';
import type { CodeEvent } from '../../events/code.ts';
import type { Recorded } from '../../events/recorded.ts';
import type { Queryable } from '../log/connect.ts';
import { readStream } from '../log/read.ts';

/** Everything that was done to a code, newest first. */
export async function historyOf(sql: Queryable, id: string): Promise<Recorded<CodeEvent>[]> {
  const events = await readStream(sql, id);
  return events.filter(isCodeEvent).reverse();
}
