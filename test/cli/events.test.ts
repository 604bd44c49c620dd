import { getPriority } from 'node:os';
import { describe, expect, test } from 'vitest';
import { createAccount, rename } from '../../src/accounts/accounts.ts';
import { startOf } from '../../src/cli/events.ts';
import { newId } from '../../src/lib/ids.ts';
import { allowedCpus } from '../../src/lib/leave-first-cpu.ts';
import type { Sql } from '../../src/lib/sql.ts';
import { appendScans, batchOf } from '../../src/log/append-scans.ts';
import { command } from '../support/command.ts';
import { canLeaveFirstCpu } from '../support/cpus.ts';
import { useDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { runScanlog } from '../support/scanlog.ts';
import { scanned } from '../support/scans.ts';

const database = useDatabase();
/** Of the test that appends while it reads, so that the other one knows its whole log. */
const growing = useDatabase();
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);

const eventsOf = (...args: string[]) => command(['events', ...args], { DATABASE_URL: database.url });

interface Printed {
  type: string;
  stream?: string;
}

async function printed(...args: string[]): Promise<Printed[]> {
  const { code, output } = await eventsOf('--json', ...args);
  expect(code, output).toBe(0);
  return output.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
}

const typesOf = (entries: Printed[]) => entries.map(({ type }) => type);

/** An account of 30 days ago, renamed 2 days ago, then a scan that waited in a spool, and one of now. */
async function givenLog({ sql }: { sql: Sql }): Promise<string> {
  const { id } = await createAccount(sql, { name: 'Café', plan: 'pro', now: daysAgo(30) });
  await rename(sql, id, 'Bistro', daysAgo(2));
  const scans = [scanned({ occurred_at: daysAgo(20) }), scanned()];
  await appendScans(sql, batchOf(newId('batch', Date.now()), 1, scans));
  return id;
}

describe('./scanlog events', () => {
  test('begins at the beginning, with the first event since a time, or with the last ones', async () => {
    const id = await givenLog(database);
    const all = await printed();
    expect(typesOf(all)).toEqual([
      ...['account_created', 'key_created', 'key_created', 'account_renamed', 'code_scanned', 'code_scanned'],
    ]);
    expect(typesOf(await printed('--last', '3'))).toEqual(['account_renamed', 'code_scanned', 'code_scanned']);
    expect(typesOf(await printed('--since', '7d')), 'and everything after it').toEqual([
      ...['account_renamed', 'code_scanned', 'code_scanned'],
    ]);
    expect(typesOf(await printed('--since', daysAgo(1).toISOString()))).toEqual(['code_scanned']);
    expect(await printed('--since', '2999-01-01')).toEqual([]);
    expect(typesOf(await printed('--stream', id, '--last', '1'))).toEqual(['account_renamed']);
    expect(typesOf(await printed('--stream', id, '--since', '7d'))).toEqual(['account_renamed']);
  });

  test('with --follow, prints only new events, with a lower priority than redirects', async () => {
    const id = await givenLog(growing);
    const running = runScanlog(['events', '--follow', '--json'], { DATABASE_URL: growing.url });
    let renames = 0;
    await eventually(async () => {
      await rename(growing.sql, id, `Name ${++renames}`, new Date());
      expect(running.output()).toContain('account_renamed');
    });
    expect(getPriority(running.pid)).toBe(Math.max(10, getPriority()));
    const all = allowedCpus(process.pid);
    await eventually(() => expect(allowedCpus(running.pid) !== all).toBe(canLeaveFirstCpu(all)));
    await running.stop();
    expect(running.output()).not.toContain('account_created');
    // The first new event may be the change from this name.
    expect(running.output()).not.toContain('"to":"Bistro"');
  });

  test.each([
    [['--stream', 'qr_none'], 'There is no stream qr_none: give the id of a code (qr_…) or of an account (acct_…).'],
    [['--stream', 'qr_none', '--follow'], 'There is no stream qr_none'],
    [['--since', 'yesterday'], '--since must be a timestamp such as 2026-03-01T09:30:00Z, or a duration such as 90s'],
    [['--last', 'few'], '--last must be a number of events, not few.'],
    [['--last', '1', '--since', '1h'], 'Give --since or --last, not both.'],
  ])('%j fails with one line', async (args, sentence) => {
    const { code, output } = await eventsOf(...args);
    expect(code).toBe(1);
    expect(output).toContain(sentence);
    expect(output.trim().split('\n')).toHaveLength(1);
  });
});

describe('--since', () => {
  const now = new Date('2026-03-01T12:00:00.000Z');
  test.each([
    ['90s', '2026-03-01T11:58:30.000Z'],
    ['15m', '2026-03-01T11:45:00.000Z'],
    ['2h', '2026-03-01T10:00:00.000Z'],
    ['7d', '2026-02-22T12:00:00.000Z'],
    ['2026-02-01', '2026-02-01T00:00:00.000Z'],
    ['2026-02-01T09:30', '2026-02-01T09:30:00.000Z'],
    ['2026-02-01 09:30:15.5', '2026-02-01T09:30:15.500Z'],
    ['2026-02-01T09:30:15+05:30', '2026-02-01T04:00:15.000Z'],
  ])('%s', (since, expected) => {
    expect(startOf({ since, follow: true }, now)).toEqual({ since: new Date(expected) });
  });

  test.each(['', '5', '5y', '-5m', '2026-13-01', '2026-02-01T25:00', '01.02.2026'])('not %s', (since) => {
    expect(() => startOf({ since, follow: false }, now)).toThrow('--since must be');
  });
});
