import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mode } from '../events/plans.ts';
import { createAccount } from '../src/accounts/accounts.ts';
import { set } from '../src/accounts/webhooks.ts';
import { createCodes } from '../src/codes/create.ts';
import { type Ground, load } from './ground.ts';

const accounts = 6;
const codesEach = 100;
const rate = 1_500;
const requestEveryMs = 60;
/** Codes that are made, scanned and deleted in each slice. */
const passing = 3;

interface Account {
  id: string;
  key: string;
  codes: { id: string; short_code: string }[];
}

/** Several accounts with codes; the first has a webhook. */
export async function makeAccounts({ sql, box }: Ground, receiver: string): Promise<Account[]> {
  const now = new Date();
  const by = { actor: 'operator', now };
  const made: Account[] = [];
  for (let i = 0; i < accounts; i++) {
    const { id, live } = await createAccount(sql, { name: `Account ${i}`, plan: 'enterprise', now });
    const owner = { account: id, mode: 'live' as Mode };
    const wanted = Array.from({ length: codesEach }, (_, n) => ({
      ...{ name: `Table ${n}`, destination_url: `https://example.com/menu?table=${n}` },
    }));
    const created = await sql.begin((tx) => createCodes(tx, box, owner, wanted, by));
    made.push({ id, key: live.secret, codes: created.map(({ code }) => code) });
    if (i === 0) await set(sql, box, owner, receiver, by);
  }
  return made;
}

/** A while of everything that people do, at once: scanning above all, and whatever the API is for. */
export async function ordinaryLoad(ground: Ground, url: string, accounts: Account[], seconds: number): Promise<void> {
  const targets = join(ground.folder, 'targets.json');
  const paths = accounts.flatMap(({ codes }) => codes.map(({ short_code }) => `/${short_code}`));
  writeFileSync(targets, JSON.stringify(shuffled(paths).map((path) => ({ path, authorization: 'none' }))));
  const scanning = load(`${url}/`, { connections: 64, seconds, rate, targets });
  let over = false;
  scanning.finally(() => {
    over = true;
  });
  const asking = (async () => {
    for (let turn = 0; !over; turn++) {
      const next = Bun.sleep(requestEveryMs);
      await askSomething(url, accounts[turn % accounts.length] as Account, Math.floor(turn / accounts.length));
      await next;
    }
  })();
  await Promise.all([asking, shortLives(url, accounts[1] as Account)]);
  const { statuses } = await scanning;
  const others = Object.keys(statuses).filter((status) => status !== '302');
  if (others.length > 0) throw new Error(`scans were answered with ${others.join(', ')}, too`);
}

/** One request of the API: another one each turn, about another code. */
async function askSomething(url: string, { key, codes }: Account, turn: number): Promise<void> {
  const { id } = codes[Math.floor(Math.random() * codes.length)] as Account['codes'][number];
  const one = `/v1/qrcodes/${id}`;
  const size = 128 + Math.floor(Math.random() * 900);
  const requests: [path: string, change?: object][] = [
    [one],
    ['/v1/qrcodes'],
    ['/v1/qrcodes?q=table+7&sort=name'],
    [one, { name: `Table ${turn}` }],
    [`${one}/history`],
    [`${one}/download?size=${size}`],
    [`${one}/download?format=svg`],
    [`/images/${id}/public?size=${size}`],
    [`${one}/analytics`],
    [`${one}/analytics/timeseries?interval=hour`],
    [`${one}/analytics/scans?limit=100`],
    [`${one}/analytics/export`],
    ['/v1/analytics/aggregate'],
    [one, { destination_url: `https://example.com/menu?turn=${turn}` }],
    ['/v1/account'],
  ];
  const [path, change] = requests[turn % requests.length] as (typeof requests)[number];
  await ask(url, key, path, change === undefined ? {} : { method: 'PATCH', body: JSON.stringify(change) });
}

/** Codes that come, are scanned, and go: their keys, visitors and rows in the warehouse have to go with them. */
async function shortLives(url: string, { key }: Account): Promise<void> {
  for (let i = 0; i < passing; i++) {
    const wanted = { name: 'Passing', destination_url: 'https://example.com/passing' };
    const { id, short_code } = await ask(url, key, '/v1/qrcodes', { method: 'POST', body: JSON.stringify(wanted) });
    for (let n = 0; n < 20; n++) await fetch(`${url}/${short_code}`, { redirect: 'manual', headers: closing });
    await ask(url, key, `/v1/qrcodes/${id}`, { method: 'DELETE' });
  }
}

/** What this process would keep open is no leak of the service. */
const closing = { connection: 'close' };

async function ask(url: string, key: string, path: string, init: RequestInit): Promise<Record<string, string>> {
  const headers = { ...closing, authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const answer = await fetch(`${url}${path}`, { ...init, headers });
  const body = await answer.text();
  if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}: ${body}`);
  return answer.headers.get('content-type')?.startsWith('application/json') ? JSON.parse(body) : {};
}

const shuffled = <T>(values: T[]): T[] =>
  values
    .map((value) => ({ value, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ value }) => value);
