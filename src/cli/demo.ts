import { operator } from '../../events/recorded.ts';
import type { Scan } from '../../events/scan.ts';
import { createAccount, createKey, listAccounts, type NewKey } from '../accounts/accounts.ts';
import { change } from '../codes/change.ts';
import type { Owner } from '../codes/codes.ts';
import { createCodes, takenShortCodes } from '../codes/create.ts';
import { StartError } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import { appendScans, batchOf } from '../log/append-scans.ts';
import type { Sql } from '../log/connect.ts';
import { findRunning } from '../stack/data-directory.ts';
import { boxOf, findConfig, withDatabase } from './connection.ts';
import { type DemoCode, demoCodes } from './demo/codes.ts';
import { seeded } from './demo/random.ts';
import { scanner, weightOn } from './demo/scans.ts';
import { progressBar } from './progress.ts';
import { bold, say } from './terminal.ts';

const accountName = 'Café Lumière (demo)';
const dayMs = 86_400_000;
const year = 365;
const most = 1_000_000;
const batchSize = 2_000;
const patienceMs = 15 * 60_000;

/** A café with a year behind it, so that there is something to see. */
export async function demo(options: { data: string; scans: string }): Promise<void> {
  const scans = Number(options.scans);
  if (!Number.isInteger(scans) || scans < 1 || scans > most)
    throw new StartError(`--scans must be an integer from 1 to ${most}.`);
  await withDatabase(options.data, async (sql) => {
    const there = (await listAccounts(sql)).find(({ name }) => name === accountName);
    if (there !== undefined) {
      say(`The demo account is there already (${there.id}); nothing was added to it. Another key to sign in with:`);
      const key = await createKey(sql, there.id, { name: 'Demo', mode: 'live', actor: operator, now: new Date() });
      return tellWhere(options.data, key);
    }
    const { live, test } = await fill(sql, await boxOf(sql, options.data), scans);
    tellWhere(options.data, live, test);
  });
}

async function fill(sql: Sql, box: SecretBox, total: number): Promise<{ live: NewKey; test: NewKey }> {
  const now = new Date();
  const today = new Date(Math.floor(now.getTime() / dayMs) * dayMs);
  const dayOf = (daysAgo: number) => new Date(today.getTime() - daysAgo * dayMs);
  const {
    id: account,
    live,
    test,
  } = await createAccount(sql, { name: accountName, plan: 'business', now: dayOf(year) });
  const owner: Owner = { account, mode: 'live' };
  const random = seeded(26);
  const weights = demoCodes.map((code) =>
    Array.from({ length: year }, (_, daysAgo) => weightOn(code, dayOf(daysAgo), daysAgo, random)),
  );
  const perWeight = total / weights.flat().reduce((sum, weight) => sum + weight, 0);

  const bar = progressBar('a year of scans');
  const cast = demoCodes.map((code) => ({ code, id: '', revision: 1, scan: scanner(code, random) }));
  const append = appender(sql);
  let made = 0;
  for (let daysAgo = year - 1; daysAgo >= 0; daysAgo--) {
    const day = dayOf(daysAgo);
    const scans: Scan[] = [];
    for (const [i, actor] of cast.entries()) {
      if (daysAgo > actor.code.daysAgo) continue;
      // Before the café opens.
      const by = { actor: live.id, now: new Date(day.getTime() + 5 * 3_600_000 + i * 60_000) };
      if (daysAgo === actor.code.daysAgo) actor.id = await make(sql, box, owner, actor.code, by);
      for (const { daysAgo: when, ...wanted } of actor.code.changes ?? []) {
        if (when !== daysAgo) continue;
        await change(sql, owner, actor.id, wanted, by);
        if (wanted.destination_url !== undefined) actor.revision++;
      }
      const count = Math.floor((weights[i]?.[daysAgo] ?? 0) * perWeight + random());
      for (const seen of actor.scan(day, count, now))
        scans.push({
          ...{ ...seen, id: newId('scan', seen.occurred_at.getTime()), code: actor.id, revision: actor.revision },
          ...owner,
        });
    }
    await append(
      scans.sort((a, b) => a.occurred_at.getTime() - b.occurred_at.getTime()),
      daysAgo === 0,
    );
    made += scans.length;
    bar.update(made, Math.max(made, total));
  }
  bar.update(made, made);
  bar.end();
  await caughtUp(sql);
  return { live, test };
}

/** Collects scans to batches of a good size, and stores them as an edge would. */
function appender(sql: Sql) {
  const writer = newId('batch', Date.now());
  let number = 0;
  let waiting: Scan[] = [];
  return async (scans: Scan[], isLast: boolean) => {
    waiting = [...waiting, ...scans];
    if (waiting.length === 0 || (waiting.length < batchSize && !isLast)) return;
    await appendScans(sql, batchOf(writer, ++number, waiting));
    waiting = [];
  };
}

/** With the short code that fits best, unless somebody has it. */
async function make(
  sql: Sql,
  box: SecretBox,
  owner: Owner,
  { name, destination_url, short_code, status, style }: DemoCode,
  by: { actor: string; now: Date },
): Promise<string> {
  const isTaken = (await takenShortCodes(sql, [short_code])).length > 0;
  const request = { name, destination_url, status, style, short_code: isTaken ? undefined : short_code };
  const [made] = await sql.begin((tx) => createCodes(tx, box, owner, [request], by));
  if (made === undefined) throw new Error(`${name} was not created`);
  return made.code.id;
}

/** Waits until counters and charts have all of it: before that, the demo would look half empty. */
async function caughtUp(sql: Sql): Promise<void> {
  const [{ head }] = await sql<[{ head: number }]>`SELECT max(position) AS head FROM scans`;
  const reached = async () => {
    const [row] = await sql<[{ position: number | null }]>`
      SELECT min(position) AS position FROM (
        SELECT position FROM checkpoints UNION ALL SELECT position FROM warehouse_tables WHERE in_use
      ) AS projections`;
    return Math.min(row.position ?? 0, head);
  };
  const start = await reached();
  const bar = progressBar('into the charts');
  const deadline = Date.now() + patienceMs;
  for (let position = start; position < head; position = await reached()) {
    bar.update(position - start, head - start);
    if (Date.now() > deadline)
      throw new StartError('The scans are stored, but not in the charts yet: is the service running?');
    await Bun.sleep(250);
  }
  bar.update(head - start, head - start);
  bar.end();
}

function tellWhere(data: string, live: NewKey, test?: NewKey): void {
  const url = findRunning(data)?.publicUrl ?? findConfig(data).publicUrl ?? 'http://localhost:3000';
  say(`\n  Console     ${bold(`${url}/console`)}`);
  say(`  live key    ${bold(live.secret)}`);
  if (test !== undefined) say(`  test key    ${bold(test.secret)}`);
  say('\nThe keys are shown only now.');
}
