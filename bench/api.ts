import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAccount } from '../src/accounts/accounts.ts';
import { createCodes } from '../src/codes/create.ts';
import { type BenchStack, load, startPeer } from './bench-stack.ts';
import { type BenchRow, boundedRow, median, perSecond } from './row.ts';

const connections = 64;
/** Each account may send 300 requests a minute, so 150 allow 45,000 requests per round. */
const accountsPerRound = 150;

/** Reads of single codes, with authentication and rate limit, against one SELECT without either. */
export async function benchApi(
  stack: BenchStack,
  { repetitions = 3, seconds = 4, onStep = (_: string) => {} } = {},
): Promise<BenchRow[]> {
  const bare = await startPeer('bare-select.ts', { DATABASE_URL: stack.databaseUrl });
  const service = await stack.serve();
  try {
    const [limits, reads]: [number[], number[]] = [[], []];
    const measure = async (port: number) => {
      const targets = await freshTargets(stack);
      const { perSecond, statuses } = await load(`http://127.0.0.1:${port}/`, { connections, seconds, targets });
      const other = Object.keys(statuses).filter((status) => status !== '200');
      if (other.length > 0) throw new Error(`some reads were answered with ${other.join(', ')} instead of 200`);
      return perSecond;
    };
    for (const { port } of [bare, service]) await measure(port);
    for (let i = 1; i <= repetitions; i++) {
      onStep(`reads of single codes, round ${i} of ${repetitions}`);
      limits.push(await measure(bare.port));
      reads.push(await measure(service.port));
    }
    return [
      boundedRow(
        {
          what: 'GET /v1/qrcodes/:id, requests/s',
          figure: perSecond(median(reads)),
          against: `bare Elysia with one SELECT: ${perSecond(median(limits))}`,
          ratio: median(reads) / median(limits),
        },
        { target: 0.5, goal: 0.8, kind: 'min' },
      ),
    ];
  } finally {
    await service.stop();
    await bare.stop();
  }
}

/** Creates accounts with unused rate limits, and writes one code of each to a file of targets. */
async function freshTargets({ sql, box, folder }: BenchStack): Promise<string> {
  const now = new Date();
  const targets: { path: string; authorization: string }[] = [];
  for (let i = 0; i < accountsPerRound; i++) {
    const { id: account, live } = await createAccount(sql, { name: `Reader ${i}`, plan: 'enterprise', now });
    const request = { name: 'Menu', destination_url: 'https://example.com/menu' };
    const by = { actor: 'operator', now };
    const [created] = await sql.begin((tx) => createCodes(tx, box, { account, mode: 'live' }, [request], by));
    targets.push({ path: `/v1/qrcodes/${created?.code.id}`, authorization: `Bearer ${live.secret}` });
  }
  const file = join(folder, 'targets.json');
  writeFileSync(file, JSON.stringify(targets));
  return file;
}
