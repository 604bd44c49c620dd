import type { Mode } from '../events/plans.ts';
import { createAccount } from '../src/accounts/accounts.ts';
import { createCodes } from '../src/codes/create.ts';
import { newId } from '../src/lib/ids.ts';
import { appendScans, batchOf } from '../src/log/append-scans.ts';
import { set } from '../src/webhooks/commands.ts';
import type { BenchStack } from './bench-stack.ts';
import { layers } from './hostile-images.ts';
import { scanOf } from './scan.ts';

export const probeKinds = ['public image', 'download', 'API read', 'analytics', 'export', 'one-label sheet'] as const;
export type ProbeKind = (typeof probeKinds)[number];

export interface ProbeResult {
  /** Durations of successful requests, in ms. */
  times: number[];
  failures: string[];
}

/** What `neighbours-probe.ts` uses. */
export interface Probed {
  url: string;
  key: string;
  codes: string[];
  /** A code with scans. */
  exported: string;
}

/** The account that does its worst, with the largest plan. */
export interface Attacker {
  url: string;
  keys: Record<Mode, string>;
  /** 1,000 live codes. */
  labels: string[];
  /** Its image is as expensive as is accepted. */
  heavy: string;
  /** Goes to another URL by language, and has scans. */
  scanned: { id: string; short_code: string };
  /** Two keys, each of which can undo what the other did to 5,000 test codes. */
  reverting: { id: string; key: string }[];
  /** Webhooks whose receiver answers, and webhooks whose receiver never ends its response. */
  webhooks: { fast: string[]; endless: string[] };
}

const probedCodes = 200;
const probedScans = 1_000;
const webhooksEach = 5;

type Created = { id: string; short_code: string };

async function codesOf(
  stack: BenchStack,
  account: string,
  mode: Mode,
  count: number,
  actor: string,
): Promise<Created[]> {
  const created: Created[] = [];
  for (let made = 0; made < count; made += 1_000) {
    const requests = Array.from({ length: Math.min(1_000, count - made) }, (_, i) => ({
      name: `Table ${made + i + 1}`,
      destination_url: `https://example.com/menu?table=${made + i + 1}`,
    }));
    const by = { actor, now: new Date() };
    const codes = await stack.sql.begin((tx) => createCodes(tx, stack.box, { account, mode }, requests, by));
    created.push(...codes.map(({ code }) => code));
  }
  return created;
}

async function scan({ sql }: BenchStack, code: { id: string; account: string }, count: number): Promise<void> {
  const writer = newId('batch', Date.now());
  for (let i = 0; i * 1_000 < count; i++)
    await appendScans(
      sql,
      batchOf(
        writer,
        i + 1,
        Array.from({ length: 1_000 }, () => scanOf(code)),
      ),
    );
}

/** The account of the stack with more codes, scans of one of them, and a webhook for its scans. */
export async function createProbed(stack: BenchStack, url: string, receiver: string): Promise<Probed> {
  const { account } = stack.code;
  const codes = await codesOf(stack, account, 'live', probedCodes, 'operator');
  const [exported] = codes as [Created];
  await scan(stack, { id: exported.id, account }, probedScans);
  const by = { actor: 'operator', now: new Date() };
  await set(stack.sql, stack.box, { account, mode: 'live' }, receiver, by);
  return { url, key: stack.key, codes: codes.map(({ id }) => id), exported: exported.id };
}

interface Receivers {
  fast: string;
  endless: string;
}

export async function createAttacker(
  stack: BenchStack,
  url: string,
  receivers: Receivers,
  { scans, revertedCodes }: { scans: number; revertedCodes: number },
): Promise<Attacker> {
  const account = await createAccount(stack.sql, { name: 'Attacker', plan: 'enterprise', now: new Date() });
  const keys = { live: account.live.secret, test: account.test.secret };
  const post = (path: string, body: unknown, key = keys.live) => send(`${url}${path}`, key, JSON.stringify(body));
  const reverting: Attacker['reverting'] = [];
  for (const name of ['First', 'Second']) {
    const made = await post('/v1/account/keys', { name }, keys.test);
    reverting.push({ id: made['id'] ?? '', key: made['key'] ?? '' });
  }
  await codesOf(stack, account.id, 'test', revertedCodes, reverting[0]?.id ?? '');
  const labels = await codesOf(stack, account.id, 'live', 1_000, 'operator');
  const scanned = await post('/v1/qrcodes', {
    name: 'By language',
    destination_url: 'https://example.com/en',
    rules: [{ when: { languages: ['de'] }, destination_url: 'https://example.com/de' }],
  });
  await scan(stack, { id: scanned['id'] ?? '', account: account.id }, scans);
  const logo = await send(`${url}/v1/logos`, keys.live, layers(80), 'image/svg+xml');
  const style = { logo: { id: logo['id'] } };
  const heavy = await post('/v1/qrcodes', { name: 'Heavy', destination_url: 'https://example.com/', style });
  const webhooks: Attacker['webhooks'] = { fast: [], endless: [] };
  for (let i = 0; i < webhooksEach; i++) {
    const hook = (to: string) => ({ url: `${to}/${i}`, events: ['scan.created'] });
    webhooks.fast.push((await post('/v1/webhooks', hook(receivers.fast)))['id'] ?? '');
    webhooks.endless.push((await post('/v1/webhooks', hook(receivers.endless)))['id'] ?? '');
  }
  return {
    url,
    keys,
    reverting,
    webhooks,
    labels: labels.map(({ id }) => id),
    heavy: heavy['id'] ?? '',
    scanned: { id: scanned['id'] ?? '', short_code: scanned['short_code'] ?? '' },
  };
}

async function send(
  url: string,
  key: string,
  body: string | Uint8Array,
  type = 'application/json',
): Promise<Record<string, string>> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': type };
  const response = await fetch(url, {
    method: 'POST',
    headers,
    body: typeof body === 'string' ? body : Buffer.from(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${new URL(url).pathname} answered ${response.status}: ${text.slice(0, 300)}`);
  return JSON.parse(text);
}
