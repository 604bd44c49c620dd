import { unlimited } from '../../events/key.ts';
import type { Owner } from '../../events/owner.ts';
import { operator } from '../../events/recorded.ts';
import type { Scan } from '../../events/scan.ts';
import { createAccount, listAccounts } from '../accounts/accounts.ts';
import { createKey, type NewKey } from '../accounts/keys.ts';
import { change } from '../codes/change.ts';
import { createCodes, takenShortCodes } from '../codes/create.ts';
import { StartError } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { Sql } from '../lib/sql.ts';
import { appendScans, batchOf } from '../log/append-scans.ts';
import { findRunning } from '../stack/data-directory.ts';
import { boxOf, findConfig, withDatabase } from './connection.ts';
import { type DemoCode, demoCodes } from './demo/codes.ts';
import { daysInYear, demoYear } from './demo/year.ts';
import { progressBar } from './progress.ts';
import { bold, print } from './terminal.ts';

const accountName = 'Café Lumière (demo)';
const dayMs = 86_400_000;
const maxScans = 1_000_000;
const batchSize = 2_000;
const projectionTimeoutMs = 15 * 60_000;

/** Creates the account of a café with a year of scans, so that the console has something to show. */
export async function demo(options: { data: string; scans: string }): Promise<void> {
  const scans = Number(options.scans);
  if (!Number.isInteger(scans) || scans < 1 || scans > maxScans)
    throw new StartError(`--scans must be an integer from 1 to ${maxScans}.`);
  await withDatabase(options.data, async (sql) => {
    const existing = (await listAccounts(sql)).find(({ name }) => name === accountName);
    if (existing !== undefined) {
      print(`The demo account already exists (${existing.id}) and is unchanged. A new key to sign in with:`);
      const by = { actor: operator, now: new Date() };
      const key = await createKey(sql, existing.id, { name: 'Demo', mode: 'live', ...unlimited }, by);
      return printAccess(options.data, key);
    }
    const { live, test } = await fill(sql, await boxOf(sql, options.data), scans);
    printAccess(options.data, live, test);
  });
}

async function fill(sql: Sql, box: SecretBox, total: number): Promise<{ live: NewKey; test: NewKey }> {
  const now = new Date();
  const begin = new Date(Math.floor(now.getTime() / dayMs - daysInYear) * dayMs);
  const { id: account, live, test } = await createAccount(sql, { name: accountName, plan: 'business', now: begin });
  const owner: Owner = { account, mode: 'live' };
  const bar = progressBar('writing scans');
  const states = demoCodes.map(() => ({ id: '', revision: 1 }));
  const append = batchAppender(sql);
  let written = 0;
  for (const { daysAgo, day, codes } of demoYear(now, total)) {
    const scans: Scan[] = [];
    for (const { index, code, scans: generated } of codes) {
      const state = states[index] ?? { id: '', revision: 1 };
      // Codes are created and changed from 5:00 on, before the first scan of the day.
      const by = { actor: live.id, now: new Date(day.getTime() + 5 * 3_600_000 + index * 60_000) };
      if (daysAgo === code.daysAgo) state.id = await createDemoCode(sql, box, owner, code, by);
      for (const { daysAgo: when, ...changes } of code.changes ?? []) {
        if (when !== daysAgo) continue;
        await change(sql, owner, state.id, changes, by);
        if (changes.destination_url !== undefined) state.revision++;
      }
      for (const scan of generated)
        scans.push({
          ...scan,
          id: newId('scan', scan.occurred_at.getTime()),
          code: state.id,
          revision: state.revision,
          ...owner,
        });
    }
    await append(
      scans.sort((a, b) => a.occurred_at.getTime() - b.occurred_at.getTime()),
      daysAgo === 0,
    );
    written += scans.length;
    bar.update(written, Math.max(written, total));
  }
  bar.update(written, written);
  bar.end();
  await waitForProjections(sql);
  return { live, test };
}

/** Appends scans in batches, as an edge does. */
function batchAppender(sql: Sql) {
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

/** Uses a generated short code if the preferred one is taken. */
async function createDemoCode(
  sql: Sql,
  box: SecretBox,
  owner: Owner,
  { name, destination_url, short_code, status, style }: DemoCode,
  by: { actor: string; now: Date },
): Promise<string> {
  const isTaken = (await takenShortCodes(sql, [{ short_code }])).length > 0;
  const request = { name, destination_url, status, style, short_code: isTaken ? undefined : short_code };
  const [made] = await sql.begin((tx) => createCodes(tx, box, owner, [request], by));
  if (made === undefined) throw new Error(`${name} was not created`);
  return made.code.id;
}

/** Waits until counters and analytics include every scan: before that, the charts would be incomplete. */
async function waitForProjections(sql: Sql): Promise<void> {
  const [{ head }] = await sql<[{ head: number }]>`SELECT max(position) AS head FROM scans`;
  const reached = async () => {
    const [row] = await sql<[{ position: number | null }]>`
      SELECT min(position) AS position FROM (
        SELECT position FROM checkpoints WHERE projection IN ('counters', 'webhooks')
        UNION ALL SELECT position FROM warehouse_tables WHERE in_use
      ) AS projections`;
    return Math.min(row.position ?? 0, head);
  };
  const start = await reached();
  const bar = progressBar('updating analytics');
  const deadline = Date.now() + projectionTimeoutMs;
  for (let position = start; position < head; position = await reached()) {
    bar.update(position - start, head - start);
    if (Date.now() > deadline)
      throw new StartError(
        'The scans are stored, but analytics do not include them after 15 minutes: check that the service is running.',
      );
    await Bun.sleep(250);
  }
  bar.update(head - start, head - start);
  bar.end();
}

function printAccess(data: string, live: NewKey, test?: NewKey): void {
  const url = findRunning(data)?.publicUrl ?? findConfig(data).publicUrl ?? 'http://localhost:3000';
  print(`\n  Console     ${bold(`${url}/console`)}`);
  print(`  live key    ${bold(live.secret)}`);
  if (test !== undefined) print(`  test key    ${bold(test.secret)}`);
  print('\nThe keys are printed only once.');
}
