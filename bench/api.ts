import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAccount } from '../src/accounts/accounts.ts';
import { createCodes } from '../src/codes/create.ts';
import { type Ground, load, startPeer } from './ground.ts';
import { type BenchRow, median, perSecond, rowOf } from './row.ts';

const connections = 64;
/** Each may ask 300 times a minute: enough of them for one round. */
const accountsARound = 150;

/** Reads of single codes, each with its key and its rate limit, against one SELECT without either. */
export async function benchApi(
  ground: Ground,
  { repetitions = 3, seconds = 4, onStep = (_: string) => {} } = {},
): Promise<BenchRow[]> {
  const bare = await startPeer('bare-select.ts', { DATABASE_URL: ground.databaseUrl });
  const service = await ground.serve();
  try {
    const [limits, reads]: [number[], number[]] = [[], []];
    const measure = async (port: number) => {
      const targets = await freshTargets(ground);
      const { perSecond, statuses } = await load(`http://127.0.0.1:${port}/`, { connections, seconds, targets });
      const other = Object.keys(statuses).filter((status) => status !== '200');
      if (other.length > 0) throw new Error(`reads were answered with ${other.join(', ')}, too`);
      return perSecond;
    };
    for (const { port } of [bare, service]) await measure(port);
    for (let i = 1; i <= repetitions; i++) {
      onStep(`reads of codes, round ${i} of ${repetitions}`);
      limits.push(await measure(bare.port));
      reads.push(await measure(service.port));
    }
    const ratio = median(reads) / median(limits);
    return [
      rowOf(
        {
          what: 'GET /v1/qrcodes/:id, requests/s',
          figure: perSecond(median(reads)),
          against: `bare Elysia with one SELECT: ${perSecond(median(limits))}`,
          ratio,
          value: ratio,
        },
        { target: 0.5, goal: 0.8, kind: 'least' },
      ),
    ];
  } finally {
    await service.stop();
    await bare.stop();
  }
}

/** Codes of accounts that have not asked for anything yet. */
async function freshTargets({ sql, box, folder }: Ground): Promise<string> {
  const now = new Date();
  const targets: { path: string; authorization: string }[] = [];
  for (let i = 0; i < accountsARound; i++) {
    const { id: account, live } = await createAccount(sql, { name: `Reader ${i}`, plan: 'enterprise', now });
    const wanted = { name: 'Menu', destination_url: 'https://example.com/menu' };
    const by = { actor: 'operator', now };
    const [made] = await sql.begin((tx) => createCodes(tx, box, { account, mode: 'live' }, [wanted], by));
    targets.push({ path: `/v1/qrcodes/${made?.code.id}`, authorization: `Bearer ${live.secret}` });
  }
  const file = join(folder, 'targets.json');
  writeFileSync(file, JSON.stringify(targets));
  return file;
}
