import { join } from 'node:path';
import { freePort } from '../src/stack/processes.ts';
import type { BenchStack } from './bench-stack.ts';
import { load } from './bench-stack.ts';
import { startProxy } from './chaos/proxy.ts';
import { startEdge, untilEmpty } from './edge-under-test.ts';
import { type BenchRow, boundedRow, ms, perSecond, unboundedRow } from './row.ts';

/** As between Frankfurt and Singapore, there and back. */
const latencyMs = 120;
const rate = 200;
const seconds = 5;
const cutMs = 60_000;

/** An edge on another continent: as fast as one nearby, and nothing lost while the link is cut for a minute. */
export async function farAwayRows(stack: BenchStack, { onStep }: { onStep(step: string): void }): Promise<BenchRow[]> {
  const [postgres, nats] = [await startProxy(stack.databaseUrl), await startProxy(stack.natsUrl)];
  const proxies = [postgres, nats];
  const center = await stack.serve({ settings: { EDGE_DURABILITY: 'disk' } });
  const near = `http://127.0.0.1:${center.port}/${stack.code.short_code}`;
  const far = await startEdge(stack, {
    roles: 'edge',
    settings: {
      DATABASE_URL: postgres.url,
      NATS_URL: nats.url,
      EDGE_DIR: join(stack.folder, `edges-far-${await freePort()}`),
    },
  });
  try {
    for (const proxy of proxies) proxy.delay(latencyMs);
    onStep(`an edge ${latencyMs} ms from Postgres and NATS`);
    for (const url of [near, far.url]) await load(url, { connections: 16, seconds: 2, rate });
    const [nearby, distant] = [
      await load(near, { connections: 16, seconds, rate }),
      await load(far.url, { connections: 16, seconds, rate }),
    ];
    onStep(`its link cut for ${cutMs / 1000} s`);
    const loading = load(far.url, { connections: 16, seconds: cutMs / 1000 + 1, rate });
    for (const proxy of proxies) await proxy.cut();
    await Bun.sleep(cutMs);
    for (const proxy of proxies) await proxy.restore();
    for (const proxy of proxies) proxy.delay(latencyMs);
    const drainMs = await untilEmpty(far);
    const { statuses } = await loading;
    const scans = Object.values(statuses).reduce((sum, count) => sum + count, 0);
    return [
      boundedRow(
        {
          what: `redirect p50 at ${perSecond(rate)}, ${latencyMs} ms from Postgres and NATS`,
          figure: ms(distant.p50),
          against: `nearby: ${ms(nearby.p50)}`,
          ratio: distant.p50 / nearby.p50,
        },
        { target: 1.2, goal: 1, kind: 'max', unit: ' ×' },
      ),
      unboundedRow({
        what: `the link cut for ${cutMs / 1000} s at ${perSecond(rate)}, until all are in Postgres`,
        figure: ms(drainMs),
        against: `${statuses['302'] ?? 0} of ${scans} responses 302`,
        ratio: null,
      }),
    ];
  } finally {
    await far.stop();
    await center.stop();
    for (const proxy of proxies) await proxy.close();
  }
}
