import type { HistoryEntry } from '../types.ts';

/** Changes of a code that were made together: one step of the time machine. */
export interface Moment {
  /** The version of the code after them. */
  version: number;
  timestamp: string;
  key_id: string;
  actor_name: string | null;
  changes: HistoryEntry[];
}

/** Entries of the history, newest first, as moments, oldest first: what one request changed is one moment. */
export function momentsOf(history: HistoryEntry[]): Moment[] {
  const moments: Moment[] = [];
  for (const entry of history.toReversed()) {
    const { version, timestamp, key_id, actor_name } = entry;
    const last = moments.at(-1);
    if (last?.timestamp === timestamp && last.key_id === key_id) {
      last.version = version;
      last.changes.push(entry);
    } else moments.push({ version, timestamp, key_id, actor_name, changes: [entry] });
  }
  return moments;
}
