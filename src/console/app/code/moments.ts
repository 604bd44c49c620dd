import type { HistoryEntry } from '../types.ts';

/** Changes of a code that were made together: one step of the time machine. */
export interface Moment {
  /** The version of the code after them. */
  version: number;
  timestamp: string;
  key_id: string;
  /** The MCP client that made them with the key. */
  client: string | undefined;
  changes: HistoryEntry[];
}

/** Entries of the history, newest first, as moments, oldest first: what one request changed is one moment. */
export function momentsOf(history: HistoryEntry[]): Moment[] {
  const moments: Moment[] = [];
  for (const entry of history.toReversed()) {
    const { version, timestamp, key_id, client } = entry;
    const last = moments.at(-1);
    if (last?.timestamp === timestamp && last.key_id === key_id && last.client === client) {
      last.version = version;
      last.changes.push(entry);
    } else moments.push({ version, timestamp, key_id, client, changes: [entry] });
  }
  return moments;
}
