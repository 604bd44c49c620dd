import type { Sql } from '../log/connect.ts';

const everyMs = 60_000;

/** Remembers when keys were last used, to the minute: a write for every request would cost more than it tells. */
export function noteKeyUse(sql: Sql) {
  const noted = new Map<string, number>();
  return {
    note(key: string): void {
      const now = Date.now();
      if (now - (noted.get(key) ?? 0) < everyMs) return;
      if (noted.size > 10_000) noted.clear();
      noted.set(key, now);
      sql`
        INSERT INTO key_usage (key, last_used_at) VALUES (${key}, ${new Date(now)})
        ON CONFLICT (key) DO UPDATE SET last_used_at = greatest(key_usage.last_used_at, excluded.last_used_at)
      `.catch(() => noted.delete(key));
    },
  };
}
