import type { AccountEvent } from '../events/account.ts';
import type { Pending } from '../events/recorded.ts';
import type { Queryable } from '../src/lib/sql.ts';

/** Writes what an event does to `reports`, a table of current state. */
export function writeReport(sql: Queryable, event: Pending<AccountEvent>): Promise<unknown>[] {
  switch (event.type) {
    case 'report_created': {
      const { report, mode, name, every, timezone, format, language, recipients, codes, tags } = event.data;
      return [
        sql`
          INSERT INTO reports
            (id, account, mode, name, every, timezone, format, language, codes, tags, recipients, created_at)
          VALUES (${report}, ${event.stream}, ${mode}, ${name}, ${every}, ${timezone}, ${format}, ${language}, ${codes},
            ${tags}, ${recipients}, ${event.occurred_at})`,
      ];
    }
    case 'report_changed':
      return [sql`UPDATE reports SET ${sql(event.data.to)} WHERE id = ${event.data.report}`];
    case 'report_removed':
      return [sql`DELETE FROM reports WHERE id = ${event.data.report}`];
    default:
      return [];
  }
}
