import { createAccount } from '../src/accounts/accounts.ts';
import { createCodes } from '../src/codes/create.ts';
import { newId } from '../src/lib/ids.ts';
import { appendScans, batchOf } from '../src/log/append-scans.ts';
import { type BenchStack, load, startPeer } from './bench-stack.ts';
import { type BenchRow, boundedRow, median, perSecond, unboundedRow } from './row.ts';
import { scanOf } from './scan.ts';

const backlog = 100_000;
/** Readers of one account, and its scans per second. */
const audiences = [
  { readers: 1, rate: 500 },
  { readers: 100, rate: 50 },
];
const connections = 256;

interface Options {
  onStep?: (step: string) => void;
  repetitions?: number;
  seconds?: number;
}

/** Events to one reader from the log, to 100 readers as they happen, and what that costs the redirects of others. */
export async function benchFeed(stack: BenchStack, options: Options = {}): Promise<BenchRow[]> {
  const { onStep = () => {} } = options;
  const followed = await followedAccount(stack);
  const service = await stack.serve();
  try {
    const port = String(service.port);
    const rows = [await fromTheLog(stack, followed, port, onStep)];
    for (const audience of audiences) rows.push(...(await asTheyHappen(stack, followed, port, audience, options)));
    return rows;
  } finally {
    await service.stop();
  }
}

/** Redirects of one account at saturation, with and without readers of another account that is scanned at `rate`. */
async function asTheyHappen(
  stack: BenchStack,
  followed: Followed,
  port: string,
  { readers: count, rate }: { readers: number; rate: number },
  { onStep = () => {}, repetitions = 3, seconds = 5 }: Options,
): Promise<BenchRow[]> {
  const url = (shortCode: string) => `http://127.0.0.1:${port}/${shortCode}`;
  const measure = async () => {
    const [redirects, scans] = await Promise.all([
      load(url(stack.code.short_code), { connections, seconds }),
      load(url(followed.shortCode), { connections: 8, seconds, rate }),
    ]);
    return { redirects: redirects.perSecond, scans: scans.perSecond };
  };
  const [withReaders, without, shares]: [number[], number[], number[]] = [[], [], []];
  await measure();
  for (let round = 1; round <= repetitions; round++) {
    onStep(`redirects beside ${count} ${count === 1 ? 'reader' : 'readers'}, round ${round} of ${repetitions}`);
    without.push((await measure()).redirects);
    const readers = await startReaders(port, followed.key, 'after=now&types=scan.created', count);
    await Bun.sleep(1_000);
    await readers.seen();
    const { redirects, scans } = await measure();
    // The last events are on their way.
    await Bun.sleep(1_000);
    shares.push((await readers.seen()) / seconds / (scans * count));
    withReaders.push(redirects);
    await readers.stop();
  }
  const share = median(shares);
  const who = count === 1 ? 'one reader' : `${count} readers`;
  return [
    unboundedRow({
      what: `events/s to ${who} of an account with ${rate} scans/s`,
      figure: perSecond(share * rate * count),
      against: `all of them: ${perSecond(rate * count)}`,
      ratio: share,
    }),
    boundedRow(
      {
        what: `redirects/s of another account beside ${who}`,
        figure: perSecond(median(withReaders)),
        against: `without readers: ${perSecond(median(without))}`,
        ratio: median(withReaders) / median(without),
      },
      { target: 0.95, goal: 1, kind: 'min' },
    ),
  ];
}

interface Followed {
  account: string;
  key: string;
  id: string;
  shortCode: string;
}

async function followedAccount({ sql, box }: BenchStack): Promise<Followed> {
  const now = new Date();
  const { id: account, live } = await createAccount(sql, { name: 'Followed', plan: 'enterprise', now });
  const request = { name: 'Followed', destination_url: 'https://example.com/menu', short_code: 'followed' };
  const by = { actor: 'operator', now };
  const [created] = await sql.begin((tx) => createCodes(tx, box, { account, mode: 'live' }, [request], by));
  return { account, key: live.secret, id: created?.code.id ?? '', shortCode: request.short_code };
}

async function startReaders(port: string, key: string, query: string, readers: number) {
  const environment = { FEED_PORT: port, FEED_KEY: key, FEED_QUERY: query, FEED_READERS: String(readers) };
  const peer = await startPeer('feed-readers.ts', environment);
  return {
    seen: async () => ((await (await fetch(`http://127.0.0.1:${peer.port}/`)).json()) as { count: number }).count,
    stop: peer.stop,
  };
}

/** One reader that starts at the beginning. */
async function fromTheLog(
  stack: BenchStack,
  { account, id, key }: Followed,
  port: string,
  onStep: (step: string) => void,
): Promise<BenchRow> {
  onStep('one reader of the log');
  const writer = newId('batch', Date.now());
  for (let i = 0; i * 1_000 < backlog; i++) {
    const scans = Array.from({ length: 1_000 }, () => scanOf({ ...stack.code, id, account }));
    await appendScans(stack.sql, batchOf(writer, i + 1, scans));
  }
  // Relay and projections have the same scans to process.
  await Bun.sleep(5_000);
  const started = performance.now();
  const reader = await startReaders(port, key, 'types=scan.created', 1);
  let count = 0;
  // Those that are split over two pieces are not counted.
  while (count < backlog * 0.99) {
    await Bun.sleep(20);
    count += await reader.seen();
  }
  const rate = count / ((performance.now() - started) / 1_000);
  await reader.stop();
  return unboundedRow({
    what: `events/s to one reader of ${backlog.toLocaleString('en')} scans in the log`,
    figure: perSecond(rate),
    against: '–',
    ratio: null,
  });
}
