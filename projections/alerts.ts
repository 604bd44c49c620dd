import type { AccountEvent } from '../events/account.ts';
import type { Pending } from '../events/recorded.ts';
import type { Queryable } from '../src/lib/sql.ts';

/** Writes what an event does to `alerts` and `raised_alerts`, tables of current state. */
export function writeAlert(sql: Queryable, event: Pending<AccountEvent>): Promise<unknown>[] {
  switch (event.type) {
    case 'alert_created': {
      const { alert, mode, kind, name, codes, tags, percent, active, language } = event.data;
      return [
        sql`
          INSERT INTO alerts (id, account, mode, kind, name, codes, tags, percent, active, language, created_at)
          VALUES (${alert}, ${event.stream}, ${mode}, ${kind}, ${name}, ${codes}, ${tags}, ${percent}, ${active},
            ${language}, ${event.occurred_at})`,
      ];
    }
    case 'alert_changed': {
      const { alert, to } = event.data;
      return [sql`UPDATE alerts SET ${sql(to)} WHERE id = ${alert}`];
    }
    case 'alert_removed': {
      const { alert } = event.data;
      return [sql`DELETE FROM alerts WHERE id = ${alert}`, sql`DELETE FROM raised_alerts WHERE alert = ${alert}`];
    }
    case 'alert_raised': {
      const { alert, mode, subject, code, domain, title, message, link } = event.data;
      return [
        sql`
          INSERT INTO raised_alerts (alert, subject, account, mode, code, domain, title, message, link, raised_at)
          VALUES (${alert}, ${subject}, ${event.stream}, ${mode}, ${code}, ${domain}, ${title}, ${message}, ${link},
            ${event.occurred_at})`,
      ];
    }
    case 'alert_cleared': {
      const { alert, subject } = event.data;
      return [sql`DELETE FROM raised_alerts WHERE alert = ${alert} AND subject = ${subject}`];
    }
    default:
      return [];
  }
}
