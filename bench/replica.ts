import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAccount } from '../src/accounts/accounts.ts';
import { createCodes } from '../src/codes/create.ts';
import { durabilities } from '../src/config/settings.ts';
import { createLogger } from '../src/lib/logger.ts';
import type { Sql } from '../src/lib/sql.ts';
import { connect } from '../src/log/connect.ts';
import { migrate } from '../src/log/migrate.ts';
import { openDataDirectory, readSecrets } from '../src/stack/data-directory.ts';
import { type BenchStack, load } from './bench-stack.ts';
import { startReplicatedPostgres } from './chaos/replicated-postgres.ts';
import { type BenchRow, ms, perSecond, unboundedRow } from './row.ts';

const edgeCounts = [1, 4, 16];
const connections = 256;
const rate = 1_000;
const seconds = 5;

/**
 * What a synchronous replica costs when commits wait until it has applied them (`synchronous_commit=remote_apply`): the append
 * lock is held across the commit, so the commits of all edges wait for one another.
 */
export async function benchReplica(stack: BenchStack, { onStep = (_: string) => {} } = {}): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'scanlog-bench-replica-'));
  const data = openDataDirectory(folder);
  const log = createLogger('error', false);
  const password = readSecrets(data).postgres;
  const postgres = await startReplicatedPostgres({ data, password, log, durable: true, onFailOver: () => {} });
  const sql = connect(postgres.url(), { name: 'bench', responseTimeoutMs: 'none' });
  try {
    await migrate(sql);
    const shortCode = await createCode(stack, sql);
    onStep('starting a synchronous replica');
    await postgres.addReplica('synchronous');
    const rows: BenchRow[] = [];
    for (const durability of durabilities)
      for (const edges of edgeCounts) {
        const settings = {
          DATABASE_URL: postgres.url(),
          EDGE_DURABILITY: durability,
          EDGE_DIR: join(folder, `edges-${durability}-${edges}`),
        };
        onStep(`durability ${durability}, edges: ${edges}`);
        const service = await stack.serve({ edges, roles: 'api,edge', settings });
        const url = `http://127.0.0.1:${service.port}/${shortCode}`;
        await load(url, { connections, seconds: 3 });
        const measure = async (commit: 'local' | 'remote_apply') => {
          await setCommit(sql, commit);
          const full = await load(url, { connections, seconds });
          const steady = await load(url, { connections: 64, seconds, rate });
          return { figure: `${perSecond(full.perSecond)}, ${ms(steady.p50)}, ${ms(steady.p99)}`, full: full.perSecond };
        };
        const local = await measure('local');
        const remote = await measure('remote_apply');
        await service.stop();
        rows.push(
          unboundedRow({
            what: `remote_apply, ${durability}, edges: ${edges} (redirects/s; p50, p99 at ${perSecond(rate)})`,
            figure: remote.figure,
            against: `local: ${local.figure}`,
            ratio: remote.full / local.full,
          }),
        );
      }
    return rows;
  } finally {
    await sql.end({ timeout: 1 });
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function createCode({ box }: BenchStack, sql: Sql): Promise<string> {
  const now = new Date();
  const { id: account } = await createAccount(sql, { name: 'Bench', plan: 'enterprise', now });
  const request = { name: 'Bench', destination_url: 'https://example.com/menu', short_code: 'bench' };
  await sql.begin((tx) => createCodes(tx, box, { account, mode: 'live' }, [request], { actor: 'operator', now }));
  return request.short_code;
}

async function setCommit(sql: Sql, commit: 'local' | 'remote_apply'): Promise<void> {
  await sql.unsafe(`ALTER SYSTEM SET synchronous_commit = ${commit}`);
  await sql`SELECT pg_reload_conf()`;
}
