import { isCodeEvent } from '../../events/catalogue.ts';
import type { CodeEvent } from '../../events/code-events.ts';
import type { Recorded } from '../../events/recorded.ts';
import { pausedTurn } from '../lib/account-turns.ts';
import type { Queryable } from '../lib/sql.ts';
import { readVersions } from '../log/read.ts';

/** One change of long rules, with up to 260 kB, or 500 small changes: some ms of the event loop. */
const maxBytes = 512 * 1024;

/** Events of a code, newest first and in parts: versions greater than `after`, up to and including `to`. Versions start at 1. */
export async function* historyOf(
  sql: Queryable,
  { account, id }: { account: string; id: string },
  { after, to }: { after: number; to: number },
): AsyncGenerator<Recorded<CodeEvent>[]> {
  for (let next = to; next > after; ) {
    const { events } = await pausedTurn(account, () => readVersions(sql, id, { after, to: next }, maxBytes));
    yield events.filter(isCodeEvent);
    next = (events.at(-1)?.version ?? 0) - 1;
  }
}
