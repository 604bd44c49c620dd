import type { Mode } from '../events/plans.ts';
import { createAccount } from '../src/accounts/accounts.ts';
import { createCodes } from '../src/codes/create.ts';
import { set } from '../src/webhooks/commands.ts';
import type { BenchStack } from './bench-stack.ts';
import { loadRedirects } from './redirect-load.ts';

const accountCount = 6;
const codesPerAccount = 100;
const rate = 1_500;
const requestEveryMs = 60;
/** The number of codes that are created, scanned and deleted in each slice. */
const temporaryCodes = 3;

interface Account {
  id: string;
  key: string;
  codes: { id: string; short_code: string }[];
}

/** Creates accounts with codes; the first has a webhook. */
export async function createAccounts({ sql, box }: BenchStack, receiver: string): Promise<Account[]> {
  const now = new Date();
  const by = { actor: 'operator', now };
  const accounts: Account[] = [];
  for (let i = 0; i < accountCount; i++) {
    const { id, live } = await createAccount(sql, { name: `Account ${i}`, plan: 'enterprise', now });
    const owner = { account: id, mode: 'live' as Mode };
    const requests = Array.from({ length: codesPerAccount }, (_, n) => ({
      name: `Table ${n}`,
      destination_url: `https://example.com/menu?table=${n}`,
    }));
    const created = await sql.begin((tx) => createCodes(tx, box, owner, requests, by));
    accounts.push({ id, key: live.secret, codes: created.map(({ code }) => code) });
    if (i === 0) await set(sql, box, owner, receiver, by);
  }
  return accounts;
}

/** Scans at a steady rate while API requests of all kinds are sent and codes are created and deleted. */
export async function mixedLoad(stack: BenchStack, url: string, accounts: Account[], seconds: number): Promise<void> {
  const shortCodes = accounts.flatMap(({ codes }) => codes.map(({ short_code }) => short_code));
  const scanning = loadRedirects(stack, url, shuffled(shortCodes), { seconds, rate });
  let isOver = false;
  scanning.finally(() => {
    isOver = true;
  });
  const requesting = (async () => {
    for (let turn = 0; !isOver; turn++) {
      const next = Bun.sleep(requestEveryMs);
      await sendRequest(url, accounts[turn % accounts.length] as Account, Math.floor(turn / accounts.length));
      await next;
    }
  })();
  await Promise.all([scanning, requesting, createAndDelete(url, accounts[1] as Account)]);
}

/** Sends the next kind of API request, for a random code. */
async function sendRequest(url: string, { key, codes }: Account, turn: number): Promise<void> {
  const { id } = codes[Math.floor(Math.random() * codes.length)] as Account['codes'][number];
  const one = `/v1/qrcodes/${id}`;
  const size = 128 + Math.floor(Math.random() * 900);
  const kinds: [path: string, change?: object][] = [
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
  const [path, change] = kinds[turn % kinds.length] as (typeof kinds)[number];
  await request(url, key, path, change === undefined ? {} : { method: 'PATCH', body: JSON.stringify(change) });
}

/** Creates, scans and deletes codes: their keys, visitors and rows in the warehouse must be removed too. */
async function createAndDelete(url: string, { key }: Account): Promise<void> {
  for (let i = 0; i < temporaryCodes; i++) {
    const body = JSON.stringify({ name: 'Temporary', destination_url: 'https://example.com/temporary' });
    const { id, short_code } = await request(url, key, '/v1/qrcodes', { method: 'POST', body });
    for (let n = 0; n < 20; n++) await fetch(`${url}/${short_code}`, { redirect: 'manual', headers: closeConnection });
    await request(url, key, `/v1/qrcodes/${id}`, { method: 'DELETE' });
  }
}

/** A connection that this process keeps open would be counted as a leak of the service. */
const closeConnection = { connection: 'close' };

async function request(url: string, key: string, path: string, init: RequestInit): Promise<Record<string, string>> {
  const headers = { ...closeConnection, authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const response = await fetch(`${url}${path}`, { ...init, headers });
  const body = await response.text();
  if (!response.ok) throw new Error(`${path} was answered with ${response.status}: ${body}`);
  return response.headers.get('content-type')?.startsWith('application/json') ? JSON.parse(body) : {};
}

const shuffled = <T>(values: T[]): T[] =>
  values
    .map((value) => ({ value, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ value }) => value);
