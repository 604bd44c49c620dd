import type { AccountEvent } from '../events/account.ts';
import type { Pending } from '../events/recorded.ts';
import type { Queryable } from '../src/lib/sql.ts';

/** Writes what an event does to `members`, a table of current state. */
export function writeMember(sql: Queryable, event: Pending<AccountEvent>): Promise<unknown>[] {
  switch (event.type) {
    case 'member_joined': {
      const { user, role } = event.data;
      return [
        sql`
          INSERT INTO members (account, user_id, role, joined_at)
          VALUES (${event.stream}, ${user}, ${role}, ${event.occurred_at})`,
      ];
    }
    case 'member_role_set':
      return [
        sql`UPDATE members SET role = ${event.data.role} WHERE account = ${event.stream} AND user_id = ${event.data.user}`,
      ];
    case 'member_removed':
      return [sql`DELETE FROM members WHERE account = ${event.stream} AND user_id = ${event.data.user}`];
    default:
      return [];
  }
}
