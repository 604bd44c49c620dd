import { randomUUID } from 'node:crypto';
import type { Scan } from '../events/scan.ts';
import type { ContractScan } from '../events/webhooks/notification.ts';
import { webhooks } from '../projections/webhooks.ts';
import { createAccount } from '../src/accounts/accounts.ts';
import { newId } from '../src/lib/ids.ts';
import { appendScans, batchOf } from '../src/log/append-scans.ts';
import { readRange } from '../src/log/read.ts';
import { contractBodyOf } from '../src/webhooks/body.ts';
import { set } from '../src/webhooks/commands.ts';
import { dueDeliveries } from '../src/webhooks/deliveries.ts';
import { Leases } from '../src/webhooks/leases.ts';
import { newSigningSecret } from '../src/webhooks/secrets.ts';
import { signedHeaders } from '../src/webhooks/signature.ts';
import { type BenchStack, startPeer } from './bench-stack.ts';
import { type BenchRow, boundedRow, median, ms, perSecond } from './row.ts';
import { scanOf } from './scan.ts';
import { benchReplaySelection } from './webhook-replay.ts';

const concurrency = 8;
const rounds = 3;
const backlog = 20_000;
/** Enough for the other projections to process the same scans before deliveries start. */
const settleMs = 15_000;

interface Received {
  count: number;
  seconds: number;
  /** From scan to delivery. */
  p99: number;
}

interface Options {
  onStep?: (step: string) => void;
}

/** Throughput of deliveries, isolation from an endpoint that hangs, claiming with a large backlog, and a large replay. */
export async function benchWebhooks(stack: BenchStack, { onStep = () => {} }: Options = {}): Promise<BenchRow[]> {
  const peer = await startPeer('webhook-receiver.ts');
  const base = `http://127.0.0.1:${peer.port}`;
  try {
    return [
      await throughput(stack, base, onStep),
      await isolation(stack, base, onStep),
      await claiming(stack, onStep),
      await benchReplaySelection(stack, onStep),
    ];
  } finally {
    await peer.stop();
  }
}

/** What the receiver has got since the last call. */
const received = async (base: string): Promise<Received> => (await fetch(`${base}/seen`)).json() as Promise<Received>;

/** Creates an account whose scans are delivered to this URL. */
async function accountWithWebhook(stack: BenchStack, url: string): Promise<string> {
  const now = new Date();
  const { id: account } = await createAccount(stack.sql, { name: 'Bench', plan: 'enterprise', now });
  await set(stack.sql, stack.box, { account, mode: 'live' }, url, { actor: 'operator', now });
  return account;
}

const serve = (stack: BenchStack) =>
  stack.serve({
    roles: 'relay,projections',
    settings: { WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8' },
  });

async function append(stack: BenchStack, scans: Scan[]): Promise<void> {
  const writer = newId('batch', Date.now());
  for (let i = 0; i * 1_000 < scans.length; i++)
    await appendScans(stack.sql, batchOf(writer, i + 1, scans.slice(i * 1_000, (i + 1) * 1_000)));
}

const newScans = (stack: BenchStack, account: string, count: number) =>
  Array.from({ length: count }, () => scanOf({ ...stack.code, account }));

/** Creates the deliveries of all scans, due at `due`, while no service sends them. */
async function project({ sql }: BenchStack, due: Date): Promise<void> {
  for (let position = await webhooks.checkpoint(sql); ; ) {
    const range = await readRange(sql, position, 5_000);
    if (range.to === position) return;
    await webhooks.apply(sql, range, due);
    position = range.to;
  }
}

async function throughput(stack: BenchStack, base: string, onStep: (step: string) => void): Promise<BenchRow> {
  const account = await accountWithWebhook(stack, `${base}/fast`);
  const [ours, bare]: [number[], number[]] = [[], []];
  for (let round = 1; round <= rounds; round++) {
    onStep(`webhook deliveries, round ${round} of ${rounds}`);
    bare.push(await bareLoop(`${base}/bare`, 3_000));
    await append(stack, newScans(stack, account, backlog));
    await project(stack, new Date(Date.now() + settleMs));
    await received(base);
    const service = await serve(stack);
    while ((await pendingDeliveries(stack)) > 0) await Bun.sleep(50);
    const { count, seconds } = await received(base);
    ours.push(count / seconds);
    await service.stop();
  }
  return boundedRow(
    {
      what: `webhooks delivered/s to one fast endpoint, ${concurrency} in flight`,
      figure: perSecond(median(ours)),
      against: `bare loop of signed fetch POSTs: ${perSecond(median(bare))}`,
      ratio: median(ours) / median(bare),
    },
    { target: 0.5, goal: 0.9, kind: 'min' },
  );
}

async function pendingDeliveries({ sql }: BenchStack): Promise<number> {
  const [row] = await sql<[{ pending: number }]>`
    SELECT coalesce(sum(deliveries), 0)::bigint AS pending FROM delivery_counts WHERE status = 'pending'`;
  return row.pending;
}

/** The limit: the same bodies and signatures, without log, retries or address checks. */
async function bareLoop(url: string, durationMs: number): Promise<number> {
  const secrets = [newSigningSecret()];
  const [id, qr_id, scan_id] = [newId('whd', Date.now()), newId('qr', Date.now()), newId('scan', Date.now())];
  const data: ContractScan = { qr_id, scan_id, country: 'DE', city: 'Berlin', device: 'ios', is_unique: true };
  const started = performance.now();
  let sent = 0;
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (performance.now() - started < durationMs) {
        const body = JSON.stringify(contractBodyOf({ type: 'scan.created', timestamp: new Date(), data }));
        const headers = signedHeaders({ id, at: new Date(), body, secrets });
        const response = await fetch(url, { method: 'POST', body, headers });
        await response.text();
        sent++;
      }
    }),
  );
  return sent / ((performance.now() - started) / 1000);
}

/** 20 accounts at a steady rate, without and with another account whose receiver never answers. */
async function isolation(stack: BenchStack, base: string, onStep: (step: string) => void): Promise<BenchRow> {
  const healthy = await Promise.all(Array.from({ length: 20 }, () => accountWithWebhook(stack, `${base}/healthy`)));
  const hanging = await accountWithWebhook(stack, `${base}/hang/here`);
  const service = await serve(stack);
  const p99AtSteadyRate = async (accounts: string[]) => {
    for (let i = 0; i < 100; i++) {
      const next = Bun.sleep(50);
      await append(
        stack,
        accounts.flatMap((account) => newScans(stack, account, 1)),
      );
      await next;
    }
    await Bun.sleep(1_000);
    return (await received(base)).p99;
  };
  await p99AtSteadyRate(healthy);
  const [without, withHanging]: [number[], number[]] = [[], []];
  for (let round = 1; round <= rounds; round++) {
    onStep(`20 healthy webhooks and one that hangs, round ${round} of ${rounds}`);
    without.push(await p99AtSteadyRate(healthy));
    withHanging.push(await p99AtSteadyRate([...healthy, hanging]));
  }
  await service.stop();
  return boundedRow(
    {
      what: 'p99 from scan to delivery at 20 healthy webhooks while another hangs',
      figure: ms(median(withHanging)),
      against: `without the hanging one: ${ms(median(without))}`,
      ratio: median(withHanging) / median(without),
    },
    { target: 2, goal: 1.1, kind: 'max', unit: ' ×' },
  );
}

/** Claiming an endpoint and reading its due deliveries must not slow down with the number of pending deliveries. */
async function claiming(stack: BenchStack, onStep: (step: string) => void): Promise<BenchRow> {
  onStep('claims with 1,000 pending deliveries');
  const few = await claimMs(stack, smallBacklog);
  onStep('claims with 1,000,000 pending deliveries');
  const many = await claimMs(stack, 1_000_000);
  return boundedRow(
    {
      what: 'claiming an endpoint with 1,000,000 pending deliveries',
      figure: ms(many),
      against: `with 1,000: ${ms(few)}`,
      ratio: many / few,
    },
    { target: 2, goal: 1.2, kind: 'max', unit: ' ×' },
  );
}

const smallBacklog = 1_000;
const endpoints = 100;
const perEndpoint = smallBacklog / endpoints;

async function claimMs({ sql }: BenchStack, backlog: number): Promise<number> {
  await sql.begin(async (tx) => {
    await tx`SET LOCAL statement_timeout = 0`;
    await tx`TRUNCATE deliveries, delivery_counts, endpoints`;
    await tx`
      INSERT INTO endpoints (account, webhook, is_set, is_paid, due_at)
      SELECT 'acct_' || n, 'live', true, true, now() - interval '1 hour' FROM generate_series(1, ${endpoints}::int) AS n`;
    await tx`
      INSERT INTO deliveries (id, account, webhook, code, scanned_at, country, city, device, is_unique, generation,
        due_at, created_at)
      SELECT 'whd_' || lpad(n::text, 22, '0'), 'acct_' || 1 + n % ${endpoints}, 'live', 'qr_1', now(), 'DE', 'Berlin', 'ios', true,
        0, now() - interval '1 hour' + n * interval '1 millisecond', now()
      FROM generate_series(1, ${backlog}::int) AS n`;
  });
  await sql`VACUUM ANALYZE deliveries`;
  await sql`VACUUM ANALYZE endpoints`;
  const leases = new Leases(sql, randomUUID(), 20_000);
  const times: number[] = [];
  for (let i = 0; i < 300; i++) {
    const started = performance.now();
    const [claimed] = (await leases.claim(new Date(), 1)).claimed;
    if (claimed === undefined) throw new Error('no endpoint could be claimed');
    const { due } = await dueDeliveries(sql, claimed, { now: new Date(), limit: perEndpoint, maxBytes: 1e9 });
    if (due.length < perEndpoint) throw new Error(`${due.length} deliveries are due, expected ${perEndpoint}`);
    times.push(performance.now() - started);
    await leases.release(claimed, new Date(), true);
  }
  return median(times);
}
