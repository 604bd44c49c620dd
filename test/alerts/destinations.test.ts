import { expect, test } from 'vitest';
import { createAccount } from '../../src/accounts/accounts.ts';
import { DestinationChecker, maxDueOfHost, problemsOf } from '../../src/alerts/destinations.ts';
import type { Probed } from '../../src/alerts/probe.ts';
import { useDatabase } from '../support/database.ts';
import { captureLog } from '../support/log-lines.ts';

const database = useDatabase();
const minuteMs = 60_000;
const dead = ['https://a.example', 'https://b.example', 'https://c.example'];
const alive = 'https://d.example';

const results: Record<string, Probed> = { [alive]: { state: 'up' } };
const unanswered: Probed = { state: 'down', problem: { kind: 'noAnswer', host: 'a.example' }, isAnswered: false };

async function newChecker() {
  const { sql } = database;
  await sql`DELETE FROM destination_checks`;
  let now = new Date();
  const account = (await createAccount(sql, { name: 'Café', plan: 'pro', now })).id;
  const { log, text } = captureLog();
  let count = 0;
  const probe = async (url: string) => {
    count++;
    return results[url] ?? unanswered;
  };
  const checker = new DestinationChecker({ sql, clock: () => now, log, probe });
  return {
    text,
    probed: () => count,
    check: () => checker.checkDue(),
    later(minutes: number) {
      now = new Date(now.getTime() + minutes * minuteMs);
    },
    problems: async (urls: string[]) => [...(await problemsOf(sql, account, urls, now)).keys()].toSorted(),
  };
}

test('websites that are down together are found, if others answer at about the same time', async () => {
  const { check, later, problems, text } = await newChecker();
  await problems([alive]);
  await check();
  await problems(dead);
  later(1);
  await check();
  later(66);
  await problems([alive, ...dead]);
  await check();
  expect(await problems([alive, ...dead])).toEqual(dead);
  expect(text()).not.toContain('check the network of this service');
});

test('a website with many destinations gets a few requests at a time, and others do not wait for it', async () => {
  const { check, problems, probed } = await newChecker();
  await problems([...Array.from({ length: 100 }, (_, i) => `https://Many.example/${i}?q`), alive]);
  await check();
  expect(probed()).toBe(maxDueOfHost + 1);
  for (let turn = 1; turn * maxDueOfHost < 100; turn++) await check();
  expect(probed()).toBe(101);
});

test('none is down while no website answers at all', async () => {
  const { check, later, problems, text } = await newChecker();
  for (let hour = 0; hour < 4; hour++) {
    await problems(dead);
    await check();
    later(66);
  }
  expect(await problems(dead)).toEqual([]);
  expect(text()).toContain('check the network of this service');
});
