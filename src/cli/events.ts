import { isScan, type LogEntry } from '../../events/entry.ts';
import { durationMs } from '../lib/duration.ts';
import { StartError } from '../lib/errors.ts';
import type { Sql } from '../lib/sql.ts';
import { readRange, readStream } from '../log/read.ts';
import { positionBefore, type Start } from '../log/start-position.ts';
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
  since?: string;
  last?: string;
  json?: boolean;
  data: string;
}

/** Prints the log in order, and with `follow` new events as they are appended. */
export async function showEvents({ stream, follow = false, json = false, data, ...options }: Options): Promise<void> {
  const start = startOf({ ...options, follow }, new Date());
  await withDatabase(data, async (sql) => {
    if (stream !== undefined) await requireStream(sql, stream);
    let after = await positionBefore(sql, start, stream);
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

/** Where to begin: without options, a reader that follows the log begins at its end, and any other at its beginning. */
export function startOf({ since, last, follow }: { since?: string; last?: string; follow: boolean }, now: Date): Start {
  if (since !== undefined && last !== undefined) throw new StartError('Give --since or --last, not both.');
  if (last !== undefined) {
    if (!/^\d{1,9}$/.test(last)) throw new StartError(`--last must be a number of events, not ${last}.`);
    return { last: Number(last) };
  }
  if (since === undefined) return follow ? 'end' : 'beginning';
  const duration = durationMs(since);
  const date = new Date(duration === undefined ? timeOf(since) : now.getTime() - duration);
  if (Number.isNaN(date.getTime()))
    throw new StartError(
      `--since must be a timestamp such as 2026-03-01T09:30:00Z, or a duration such as 90s, 15m, 2h or 7d, not ${since}.`,
    );
  return { since: date };
}

/** A date, or a timestamp, of UTC unless it names a zone; NaN for anything else. */
function timeOf(text: string): number {
  const [, date, time = 'T00:00', zone = 'Z'] =
    /^(\d{4}-\d\d-\d\d)(?:([T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:\d\d)?)?$/i.exec(text) ?? [];
  return date === undefined ? Number.NaN : Date.parse(`${date}${time.replace(' ', 'T')}${zone}`);
}

async function requireStream(sql: Sql, stream: string): Promise<void> {
  const [found] = await sql`SELECT 1 FROM events WHERE stream = ${stream} LIMIT 1`;
  if (found === undefined)
    throw new StartError(`There is no stream ${stream}: give the id of a code (qr_…) or of an account (acct_…).`);
}
