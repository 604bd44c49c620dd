import { join } from 'node:path';
import { connect } from '../src/log/connect.ts';
import { serviceRole } from '../src/stack/service-role.ts';
import { script } from './bench-stack.ts';
import { type BenchAccount, eventsOfReader, type World } from './operations-world.ts';

/** A filled log with a running service. */
export interface RunningWorld extends World {
  url: string;
  /** Receives webhooks at `/hook`. */
  receiver: string;
  /** Runs a command of `./scanlog`, or a script of this folder; rejects if it fails. */
  run(args: string[], environment?: Record<string, string>): Promise<void>;
  /** Aborted when the operation takes too long. */
  signal: AbortSignal;
}

export interface Operation {
  name: string;
  /**
   * What its time should follow: the scans of the log, so that the time per million is compared; or what it reads, which is
   * the same in a log of any size.
   */
  follows: 'log' | 'result';
  /** Whether it can be repeated: then the median of a few seconds counts. */
  isRepeatable: boolean;
  perform(world: RunningWorld): Promise<void>;
}

const monthsKept = 12;
/** 37 % of the scans are older. */
const archivedAge = '270d';

const backupFile = ({ stack }: World) => join(stack.folder, 'bench.backup');

/** In the order in which they run: those that remove scans come last. */
export const operations: Operation[] = [
  read('search', (world) => get(world, ofAny(world), '/v1/qrcodes?q=Table%2017')),
  {
    name: 'time series of an account, 14 months',
    // Every scan has a new visitor, and the series merges the visitors of all hours.
    follows: 'log',
    isRepeatable: true,
    perform: (world) => get(world, ofAny(world), `/v1/analytics/timeseries?interval=day&${period(world)}`),
  },
  read('events --since 15m', ({ run }) => run(['events', '--since', '15m', '--json'])),
  read(`feed, ${eventsOfReader.toLocaleString('en')} events of an account`, ({ run, url, reader }) =>
    run([script('operations-feed.ts'), url, reader.key, String(eventsOfReader)]),
  ),
  {
    name: `webhook replay, ${eventsOfReader.toLocaleString('en')} events of an account`,
    follows: 'result',
    isRepeatable: false,
    perform: replayWebhook,
  },
  once('export of an account', (world) => get(world, ofAny(world), `/v1/analytics/export?${period(world)}`)),
  once('backup', (world) => world.run(['backup', backupFile(world)])),
  once('restore', restore),
  once('verify', ({ run }) => run(['verify'])),
  once('replay state', ({ run }) => run(['replay', 'state'])),
  once('replay analytics', ({ run }) => run(['replay', 'analytics'])),
  once(`archive --older-than ${archivedAge}`, ({ run, stack }) =>
    run(['archive', '--older-than', archivedAge, '--to', join(stack.folder, 'archive')]),
  ),
  once(`retention, ${monthsKept} months`, ({ run }) => run([script('operations-retention.ts'), String(monthsKept)])),
  once('erasure of an account', eraseAccount),
];

function read(name: string, perform: Operation['perform']): Operation {
  return { name, follows: 'result', isRepeatable: true, perform };
}

function once(name: string, perform: Operation['perform']): Operation {
  return { name, follows: 'log', isRepeatable: false, perform };
}

const ofAny = ({ accounts }: World) => accounts[0] as BenchAccount;

const period = ({ start, end }: World) => `start_date=${start.toISOString()}&end_date=${end.toISOString()}`;

/** Reads a response to its end. */
async function get(world: RunningWorld, { key }: BenchAccount, path: string): Promise<void> {
  const response = await request(world, key, path);
  for await (const _ of response.body ?? []);
}

async function request({ url, signal }: RunningWorld, key: string, path: string, body?: object): Promise<Response> {
  const response = await fetch(`${url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
    signal,
  });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${(await response.text()).slice(0, 200)}`);
  return response;
}

async function replayWebhook(world: RunningWorld): Promise<void> {
  const { reader, receiver, start, signal } = world;
  const settings = { url: `${receiver}/hook`, events: ['scan.created'] };
  const { id } = (await (await request(world, reader.key, '/v1/webhooks', settings)).json()) as { id: string };
  const wanted = { from: start.toISOString(), only: 'missing' };
  const path = `/v1/webhooks/${id}/replay`;
  let replay = (await (await request(world, reader.key, path, wanted)).json()) as Replay;
  while (replay.status === 'running') {
    signal.throwIfAborted();
    await Bun.sleep(500);
    replay = (await (await request(world, reader.key, `${path}s/${replay.id}`)).json()) as Replay;
  }
  if (replay.delivered !== eventsOfReader)
    throw new Error(`the replay ended as ${replay.status} with ${replay.delivered} of ${eventsOfReader} deliveries`);
}

interface Replay {
  id: string;
  status: string;
  delivered: number;
}

/** Into a database of the same Postgres. */
async function restore(world: RunningWorld): Promise<void> {
  const { stack, run } = world;
  const admin = connect(stack.adminDatabaseUrl, { name: 'bench', max: 1, responseTimeoutMs: 'none' });
  try {
    await admin.unsafe(`CREATE DATABASE restored OWNER ${serviceRole}`);
    await run(['restore', backupFile(world)], { DATABASE_URL: stack.databaseUrl.replace(/\/[^/]*$/, '/restored') });
  } finally {
    await admin.unsafe('DROP DATABASE IF EXISTS restored WITH (FORCE)');
    await admin.end({ timeout: 1 });
  }
}

/** The command ends before the erasure if that waits for the warehouse. */
async function eraseAccount({ accounts, run, stack, signal }: RunningWorld): Promise<void> {
  const account = (accounts.at(-1) as BenchAccount).id;
  await run(['account', 'delete', account, '--yes']);
  const isDone = async () =>
    (await stack.sql`SELECT FROM erasures WHERE account = ${account} AND done_at IS NOT NULL`).length > 0;
  while (!(await isDone())) {
    signal.throwIfAborted();
    await Bun.sleep(200);
  }
}
