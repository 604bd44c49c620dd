import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readMark } from '../../src/lib/process-mark.ts';
import { clickhousePlan } from '../../src/stack/clickhouse.ts';
import { openDataDirectory } from '../../src/stack/data-directory.ts';
import { isOpenToOthers, openPathOf, readableRoot } from '../../src/stack/reach.ts';
import { type Running, runScanlog } from '../support/scanlog.ts';

const checkout = fileURLToPath(new URL('../../', import.meta.url));
const isRoot = process.getuid?.() === 0;
const parts = ['postgres', 'nats', 'clickhouse'] as const;
/** Like a home directory of mode 700; on the file system of the checkout, because hard links are fast to create. */
let home: string;
let clone: string;
let data: string;
const started: Running[] = [];

beforeAll(() => {
  mkdirSync(join(checkout, '.tools'), { recursive: true });
  home = mkdtempSync(join(checkout, '.tools/closed-'));
  clone = join(home, 'scanlog');
  data = join(clone, '.scanlog');
  mkdirSync(join(clone, '.tools'), { recursive: true });
  const copied = ['src', 'migrations', 'events', 'projections', 'package.json', 'node_modules'];
  execFileSync('cp', ['-al', ...copied.map((name) => join(checkout, name)), clone]);
  const nats = '.tools/nats-server';
  if (existsSync(join(checkout, nats))) linkSync(join(checkout, nats), join(clone, nats));
});
afterAll(async () => {
  for (const running of started) await running.stop();
  for (const folder of [home, openPathOf(home)]) rmSync(folder, { recursive: true, force: true });
});

async function up(): Promise<Running> {
  const running = runScanlog(['up', '--data', data, '--port', '0'], {}, clone);
  started.push(running);
  await running.prints('Ctrl-C stops everything');
  return running;
}

async function codes(running: Running, init: RequestInit = {}): Promise<unknown> {
  const [, url] = /API +(\S+)/.exec(running.output()) ?? [];
  const [, key] = /^LIVE_KEY=(.+)$/m.exec(readFileSync(join(data, 'demo-keys.env'), 'utf8')) ?? [];
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return (await fetch(`${url}/qrcodes`, { headers, ...init })).json();
}

function rightsOf(part: string): { isRoot: boolean; capabilities: bigint } {
  const status = readFileSync(`/proc/${readMark(join(data, 'run', `${part}.pid`))?.pid}/status`, 'utf8');
  const field = (name: string) => new RegExp(`^${name}:\\s+(\\w+)`, 'm').exec(status)?.[1] ?? '';
  const sets = ['CapInh', 'CapPrm', 'CapEff', 'CapAmb'].map((set) => BigInt(`0x${field(set)}`));
  return { isRoot: field('Uid') === '0', capabilities: sets.reduce((all, set) => all | set) };
}

/** Makes the folder like one of older versions, which ran NATS and ClickHouse as root. */
function giveBackToRoot(): void {
  const clickhouse = join(data, 'clickhouse');
  const real = realpathSync(clickhouse);
  if (real !== clickhouse) {
    unlinkSync(clickhouse);
    renameSync(real, clickhouse);
  }
  writeFileSync(join(clickhouse, 'kept'), '');
  writeFileSync(join(data, 'nats.conf'), '', { mode: 0o600 });
  if (isRoot) execFileSync('chown', ['-R', 'root:root', clickhouse, join(data, 'nats')]);
}

test('below a closed home directory, no server runs as root or has capabilities, also on an older data folder', async () => {
  const first = await up();
  expect(isOpenToOthers(clone)).toBe(false);
  expect(first.output().includes('started as root: the embedded servers run as another user')).toBe(isRoot);
  for (const part of parts) expect(rightsOf(part), part).toEqual({ isRoot: false, capabilities: 0n });
  const body = JSON.stringify({ name: 'Kept', destination_url: 'https://example.com' });
  expect(await codes(first, { method: 'POST', body })).toMatchObject({ name: 'Kept' });
  await first.stop();

  giveBackToRoot();
  const second = await up();
  for (const part of parts) expect(rightsOf(part), part).toEqual({ isRoot: false, capabilities: 0n });
  expect(await codes(second)).toMatchObject({ data: [{ name: 'Kept' }] });
  expect(existsSync(join(data, 'clickhouse/kept')), 'ClickHouse keeps its folder').toBe(true);
  for (const part of parts) expect(statSync(join(data, part)).mode & 0o077, `${part} is closed`).toBe(0);
});

test('a renamed data folder does not share its ClickHouse data with a new folder at the old path', async () => {
  const [path, renamed] = [join(home, 'data'), join(home, 'renamed')];
  const launch = async () => {
    const { args } = await clickhousePlan({ data: openDataDirectory(path), port: 1, password: 'x' }).launch();
    return args[args.indexOf('--data') + 1];
  };
  const first = await launch();
  expect(await launch(), 'the next start uses the same data').toBe(first);
  writeFileSync(join(path, 'clickhouse/one'), '');
  renameSync(path, renamed);
  await launch();
  expect(existsSync(join(path, 'clickhouse/one'))).toBe(false);
  const { args } = await clickhousePlan({ data: openDataDirectory(renamed), port: 1, password: 'x' }).launch();
  expect(args[args.indexOf('--data') + 1]).not.toBe(await launch());
});

test('programs that only root can read are copied for other users, or the error says what to do', () => {
  const folder = mkdtempSync(join(tmpdir(), 'scanlog-reach-'));
  const program = join(folder, 'bin/program');
  try {
    mkdirSync(join(folder, 'bin'));
    writeFileSync(program, 'one', { mode: 0o700 });
    const copy = () => readableRoot(folder, ['bin']);
    if (!isRoot) return expect(copy).toThrow('is closed to other users, and its programs cannot be copied');
    const root = copy();
    expect(statSync(join(root, 'bin/program')).mode & 0o777).toBe(0o755);
    expect(isOpenToOthers(join(root, 'bin/program'))).toBe(true);
    writeFileSync(program, 'another');
    expect(readFileSync(join(copy(), 'bin/program'), 'utf8'), 'a new version is copied again').toBe('another');
    expect(statSync(program).mode & 0o777, 'the original stays closed').toBe(0o700);
    for (const path of [folder, join(folder, 'bin'), program]) chmodSync(path, 0o755);
    expect(copy(), 'open programs are not copied').toBe(folder);
  } finally {
    for (const path of [folder, openPathOf(folder)]) rmSync(path, { recursive: true, force: true });
  }
});
