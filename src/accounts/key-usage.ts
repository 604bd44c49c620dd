import type { Sql } from '../lib/sql.ts';

const writeIntervalMs = 60_000;
const maxTracked = 10_000;

/** Calls `write` with the subject, at most once a minute for each: a write for each request would be expensive. */
export function noteOncePerMinute(write: (subject: string) => Promise<unknown>): { note(subject: string): void } {
  const notedAt = new Map<string, number>();
  return {
    note(subject) {
      const now = Date.now();
      if (now - (notedAt.get(subject) ?? 0) < writeIntervalMs) return;
      if (notedAt.size > maxTracked) notedAt.clear();
      notedAt.set(subject, now);
      write(subject).catch(() => notedAt.delete(subject));
    },
  };
}

/** Stores when keys were last used. */
export const noteKeyUse = (sql: Sql) =>
  noteOncePerMinute(
    (key) => sql`
      INSERT INTO key_usage (key, last_used_at) VALUES (${key}, ${new Date()})
      ON CONFLICT (key) DO UPDATE SET last_used_at = greatest(key_usage.last_used_at, excluded.last_used_at)`,
  );
