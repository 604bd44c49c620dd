import { isScan, type LogEntry } from '../../events/entry.ts';
import { readRange, readStream } from '../log/read.ts';
import { withDatabase } from './connection.ts';
import { bold, dim, print } from './terminal.ts';

const pageSize = 500;
const pollMs = 250;

function describe(entry: LogEntry): string {
  const prefix = dim(`${String(entry.position).padStart(8)}  ${entry.occurred_at.toISOString()}`);
  if (isScan(entry)) {
    const { code, city, country, device, browser, is_unique } = entry;
    const who = `${city}, ${country}  ${device} ${browser}${is_unique ? '  new visitor' : ''}`;
    return `${prefix}  ${code}  ${bold(entry.type)}  ${who}`;
  }
  const { stream, version, type, data, actor } = entry;
  const what = type === 'erased' ? `${bold(data.type)}  erased` : `${bold(type)}  ${JSON.stringify(data)}`;
  return `${prefix}  ${stream} ${dim(`v${version}`)}  ${what}  ${dim(`by ${actor}`)}`;
}

/** Prints an erased event as it is stored: with its original type. */
const presentJson = (entry: LogEntry) =>
  entry.type === 'erased' ? { ...entry, type: entry.data.type, data: {}, erased: true } : entry;

interface Options {
  stream?: string;
  follow?: boolean;
  json?: boolean;
  data: string;
}

/** Prints the log in order, and with `follow` new events as they are appended. */
export async function showEvents({ stream, follow = false, json = false, data }: Options): Promise<void> {
  await withDatabase(data, async (sql) => {
    let after = 0;
    for (;;) {
      const entries =
        stream === undefined ? (await readRange(sql, after, pageSize)).entries : await readStream(sql, stream, after);
      for (const entry of entries) print(json ? JSON.stringify(presentJson(entry)) : describe(entry));
      after = entries.at(-1)?.position ?? after;
      if (entries.length > 0) continue;
      if (!follow) return;
      await Bun.sleep(pollMs);
    }
  });
}
