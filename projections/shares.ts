import type { AccountEvent } from '../events/account.ts';
import type { Pending } from '../events/recorded.ts';
import type { Queryable } from '../src/lib/sql.ts';

/** Writes what an event does to `shares`, a table of current state. */
export function writeShare(sql: Queryable, event: Pending<AccountEvent>): Promise<unknown>[] {
  switch (event.type) {
    case 'share_created': {
      const { share, mode, name, codes, tags, has_password, expires_at, bots, frame_origins } = event.data;
      return [
        sql`
          INSERT INTO shares
            (id, account, mode, name, codes, tags, has_password, expires_at, bots, frame_origins, created_at)
          VALUES (${share}, ${event.stream}, ${mode}, ${name}, ${codes}, ${tags}, ${has_password}, ${expires_at}, ${bots},
            ${frame_origins}, ${event.occurred_at})`,
      ];
    }
    case 'share_changed': {
      const { share, to } = event.data;
      return [sql`UPDATE shares SET ${sql(to)} WHERE id = ${share}`];
    }
    case 'share_ended':
      return [sql`DELETE FROM shares WHERE id = ${event.data.share}`];
    default:
      return [];
  }
}
