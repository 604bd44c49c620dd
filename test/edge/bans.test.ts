import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createAccount, resume, suspend } from '../../src/accounts/accounts.ts';
import { block } from '../../src/codes/blocked-hosts.ts';
import { type Bans, createBans, readSavedBans } from '../../src/edge/bans.ts';
import { readEvents } from '../../src/log/read.ts';
import { useDatabase } from '../support/database.ts';

const database = useDatabase();
const parent = mkdtempSync(join(tmpdir(), 'scanlog-bans-'));
afterAll(() => rmSync(parent, { recursive: true, force: true }));

const now = new Date();
const routeOf = (account: string, destination_url = 'https://example.com/menu') => ({
  account,
  destination_url,
  disabled: false,
});
const newAccount = async () => (await createAccount(database.sql, { name: 'Café', plan: 'pro', now })).id;

test('an edge that starts without Postgres reads saved bans and skips damaged files', async () => {
  const [banned, other] = [await newAccount(), await newAccount()];
  await suspend(database.sql, banned, 'Unpaid.', now);
  await block(database.sql, 'phish.example', now);
  const bans = createBans(database.sql);
  expect(bans.covers(routeOf(banned)), 'before they are read').toBe(false);
  await bans.loaded();
  for (const name of ['edge-0', 'edge-1']) mkdirSync(join(parent, name));
  await bans.save(join(parent, 'edge-0'));
  writeFileSync(join(parent, 'edge-1', 'bans.json'), '{"version":1,"acc');
  expect(statSync(join(parent, 'edge-0', 'bans.json')).mode & 0o777).toBe(0o600);

  const restarted = createBans(database.sql, await readSavedBans(parent));
  expect(restarted.covers(routeOf(banned))).toBe(true);
  expect(restarted.covers(routeOf(other, 'https://www.phish.example/login'))).toBe(true);
  expect(restarted.covers(routeOf(other))).toBe(false);
});

test('events may arrive repeatedly and in any order, and older ones do not undo newer state', async () => {
  const account = await newAccount();
  await suspend(database.sql, account, 'Unpaid.', now);
  await resume(database.sql, account, now);
  const events = (await readEvents(database.sql, 0, 1_000)).filter(({ stream }) => stream === account);
  const bans = createBans(database.sql);
  bans.apply(events.toReversed());
  bans.apply(events);
  expect(bans.covers(routeOf(account))).toBe(false);
  await suspend(database.sql, account, 'Again.', now);
  await bans.refresh();
  expect(bans.covers(routeOf(account))).toBe(true);
  bans.apply(events);
  expect(bans.covers(routeOf(account)), 'after the earlier resume is repeated').toBe(true);
});

test('hosts that an earlier version has stored, saved or recorded in another spelling are blocked in all spellings', async () => {
  const urls = ['http://198.51.100.7/', 'http://[::ffff:198.51.100.7]/', 'http://3325256711../'];
  const covered = (bans: Bans) => urls.map((url) => bans.covers(routeOf('acct_1', url)));
  const saved = createBans(database.sql, { version: 1, accounts: [], hosts: ['[::ffff:c633:6407]'] });
  expect(covered(saved)).toEqual([true, true, true]);

  await block(database.sql, '[::ffff:c633:6407]', now);
  const [last] = (await readEvents(database.sql, 0, 1_000)).slice(-1);
  const following = createBans(database.sql);
  if (last !== undefined) following.apply([last]);
  expect(covered(following)).toEqual([true, true, true]);
});
