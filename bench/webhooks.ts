import { randomUUID } from 'node:crypto';
import type { Scan } from '../events/scan.ts';
import { webhooks } from '../projections/webhooks.ts';
import { createAccount } from '../src/accounts/accounts.ts';
import { set } from '../src/accounts/webhooks.ts';
import { newId } from '../src/lib/ids.ts';
import { appendScans, batchOf } from '../src/log/append-scans.ts';
import { readRange } from '../src/log/read.ts';
import { bodyOf } from '../src/webhooks/body.ts';
import { dueDeliveries } from '../src/webhooks/deliveries.ts';
import { createLeases } from '../src/webhooks/leases.ts';
import { newSigningSecret } from '../src/webhooks/secrets.ts';
import { signedHeaders } from '../src/webhooks/signature.ts';
import { type Ground, startPeer } from './ground.ts';
import { type BenchRow, median, ms, perSecond, rowOf } from './row.ts';
import { scanOf } from './scan.ts';

const concurrency = 8;
const settleMs = 15_000;

interface Seen {
  count: number;
  seconds: number;
  p99: number;
}

interface Options {
  onStep?: (step: string) => void;
}

/** Webhooks: how many, whether one that hangs is felt by others, and what a backlog costs. */
export async function benchWebhooks(ground: Ground, { onStep = () => {} }: Options = {}): Promise<BenchRow[]> {
  const peer = await startPeer('webhook-receiver.ts');
  const base = `http://127.0.0.1:${peer.port}`;
  const seen = async (): Promise<Seen> => (await fetch(`${base}/seen`)).json() as Promise<Seen>;
  try {
    return [
      await throughput(ground, base, seen, onStep),
      await isolation(ground, base, seen, onStep),
      await flatness(ground, onStep),
    ];
  } finally {
    await peer.stop();
  }
}

/** An account whose scans are told to this URL. */
async function accountWith(ground: Ground, url: string): Promise<string> {
  const now = new Date();
  const { id: account } = await createAccount(ground.sql, { name: 'Bench', plan: 'enterprise', now });
  const { box } = ground;
  await set(ground.sql, box, { account, mode: 'live' }, url, { actor: 'operator', now });
  return account;
}

const serve = (ground: Ground) =>
  ground.serve({
    roles: 'relay,projections',
    settings: { WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8' },
  });

async function append(ground: Ground, scans: Scan[]): Promise<void> {
  const writer = newId('batch', Date.now());
  for (let i = 0; i * 1_000 < scans.length; i++)
    await appendScans(ground.sql, batchOf(writer, i + 1, scans.slice(i * 1_000, (i + 1) * 1_000)));
}

const scans = (ground: Ground, account: string, count: number) =>
  Array.from({ length: count }, () => scanOf({ ...ground.code, account }));

/** Lets the projection make its deliveries, without anybody who sends them; they are due then. */
async function project({ sql }: Ground, due: Date): Promise<void> {
  for (let position = await webhooks.checkpoint(sql); ; ) {
    const range = await readRange(sql, position, 5_000);
    if (range.to === position) return;
    await webhooks.apply(sql, range, due);
    position = range.to;
  }
}

async function throughput(ground: Ground, base: string, seen: () => Promise<Seen>, onStep: (s: string) => void) {
  const account = await accountWith(ground, `${base}/fast`);
  const backlog = 20_000;
  const [ours, bare]: [number[], number[]] = [[], []];
  for (let round = 1; round <= 3; round++) {
    onStep(`webhooks delivered, round ${round} of 3`);
    bare.push(await bareLoop(`${base}/bare`, 3_000));
    await append(ground, scans(ground, account, backlog));
    // Due only when the other projections, which have the same scans to read, are done with them.
    await project(ground, new Date(Date.now() + settleMs));
    await seen();
    const service = await serve(ground);
    while ((await waiting(ground)) > 0) await Bun.sleep(50);
    const { count, seconds } = await seen();
    ours.push(count / seconds);
    await service.stop();
  }
  return rowOf(
    {
      what: `webhooks delivered/s to one fast endpoint, ${concurrency} at once`,
      figure: perSecond(median(ours)),
      against: `a bare loop of signed fetch POSTs: ${perSecond(median(bare))}`,
      ratio: median(ours) / median(bare),
      value: median(ours) / median(bare),
    },
    { target: 0.5, goal: 0.9, kind: 'least' },
  );
}

async function waiting({ sql }: Ground): Promise<number> {
  const [row] = await sql<[{ waiting: number }]>`
    SELECT coalesce(sum(deliveries), 0)::bigint AS waiting FROM webhook_delivery_counts WHERE status = 'pending'`;
  return row.waiting;
}

/** What can be sent at all: the same body and signatures, no log, no retries, nobody who checks where it goes. */
async function bareLoop(url: string, forMs: number): Promise<number> {
  const secrets = [newSigningSecret()];
  const notice = { id: newId('whd', Date.now()), code: newId('qr', Date.now()), scanned_at: new Date() };
  const place = { country: 'DE', city: 'Berlin', device: 'ios', is_unique: true };
  const started = performance.now();
  let sent = 0;
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (performance.now() - started < forMs) {
        const body = bodyOf({ ...notice, ...place });
        const headers = signedHeaders({ id: notice.id, at: new Date(), body, secrets });
        const answer = await fetch(url, { method: 'POST', body, headers });
        await answer.text();
        sent++;
      }
    }),
  );
  return sent / ((performance.now() - started) / 1000);
}

/** Twenty accounts at a steady rate, without and with one more whose receiver never answers. */
async function isolation(ground: Ground, base: string, seen: () => Promise<Seen>, onStep: (s: string) => void) {
  const healthy = await Promise.all(Array.from({ length: 20 }, () => accountWith(ground, `${base}/healthy`)));
  const hanging = await accountWith(ground, `${base}/hang/here`);
  const service = await serve(ground);
  const steady = async (accounts: string[]) => {
    for (let i = 0; i < 100; i++) {
      const next = Bun.sleep(50);
      await append(
        ground,
        accounts.flatMap((account) => scans(ground, account, 1)),
      );
      await next;
    }
    await Bun.sleep(1_000);
    return (await seen()).p99;
  };
  await steady(healthy);
  const [without, beside]: [number[], number[]] = [[], []];
  for (let round = 1; round <= 3; round++) {
    onStep(`twenty healthy webhooks beside one that hangs, round ${round} of 3`);
    without.push(await steady(healthy));
    beside.push(await steady([...healthy, hanging]));
  }
  await service.stop();
  return rowOf(
    {
      what: 'one webhook hangs, 20 are healthy: p99 of these, from scan to delivery',
      figure: ms(median(beside)),
      against: `without it: ${ms(median(without))}`,
      ratio: median(beside) / median(without),
      value: median(beside) / median(without),
    },
    { target: 2, goal: 1.1, kind: 'most', unit: ' ×' },
  );
}

/** Claiming an endpoint and reading the first that are due, as many of them with a little and with much that waits. */
async function flatness(ground: Ground, onStep: (s: string) => void) {
  onStep('claims with 1,000 deliveries waiting');
  const few = await claimMs(ground, fewest);
  onStep('claims with 1,000,000 deliveries waiting');
  const many = await claimMs(ground, 1_000_000);
  return rowOf(
    {
      what: 'claiming an endpoint with 1,000,000 deliveries waiting',
      figure: ms(many),
      against: `with 1,000: ${ms(few)}`,
      ratio: many / few,
      value: many / few,
    },
    { target: 2, goal: 1.2, kind: 'most', unit: ' ×' },
  );
}

const fewest = 1_000;
const endpoints = 100;
const perEndpoint = fewest / endpoints;

async function claimMs({ sql }: Ground, backlog: number): Promise<number> {
  await sql.begin(async (tx) => {
    await tx`SET LOCAL statement_timeout = 0`;
    await tx`TRUNCATE webhook_deliveries, webhook_delivery_counts, webhook_endpoints`;
    await tx`
      INSERT INTO webhook_endpoints (account, mode, is_set, is_paid, due_at)
      SELECT 'acct_' || n, 'live', true, true, now() - interval '1 hour' FROM generate_series(1, ${endpoints}::int) AS n`;
    await tx`
      INSERT INTO webhook_deliveries (id, account, mode, code, scanned_at, country, city, device, is_unique, generation,
        due_at, created_at)
      SELECT 'whd_' || lpad(n::text, 22, '0'), 'acct_' || 1 + n % ${endpoints}, 'live', 'qr_1', now(), 'DE', 'Berlin', 'ios', true,
        0, now() - interval '1 hour' + n * interval '1 millisecond', now()
      FROM generate_series(1, ${backlog}::int) AS n`;
  });
  await sql`VACUUM ANALYZE webhook_deliveries`;
  await sql`VACUUM ANALYZE webhook_endpoints`;
  const leases = createLeases(sql, randomUUID(), 20_000);
  const times: number[] = [];
  for (let i = 0; i < 300; i++) {
    const started = performance.now();
    const [held] = (await leases.claim(new Date(), 1)).held;
    if (held === undefined) throw new Error('nothing to claim');
    const due = await dueDeliveries(sql, held, { now: new Date(), most: perEndpoint });
    if (due.length < perEndpoint) throw new Error(`only ${due.length} are due`);
    times.push(performance.now() - started);
    await leases.release(held, new Date(), true);
  }
  return median(times);
}
