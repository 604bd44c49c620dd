import type { Sql } from '../log/connect.ts';

const writeIntervalMs = 60_000;
const maxTracked = 10_000;

/** Stores when keys were last used, at most once a minute for each key: a write for each request would be expensive. */
export function noteKeyUse(sql: Sql) {
  const notedAt = new Map<string, number>();
  return {
    note(key: string): void {
      const now = Date.now();
      if (now - (notedAt.get(key) ?? 0) < writeIntervalMs) return;
      if (notedAt.size > maxTracked) notedAt.clear();
      notedAt.set(key, now);
      sql`
        INSERT INTO key_usage (key, last_used_at) VALUES (${key}, ${new Date(now)})
        ON CONFLICT (key) DO UPDATE SET last_used_at = greatest(key_usage.last_used_at, excluded.last_used_at)
      `.catch(() => notedAt.delete(key));
    },
  };
}
