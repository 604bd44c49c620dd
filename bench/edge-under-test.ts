import { freePort } from '../src/stack/processes.ts';
import type { BenchStack } from './bench-stack.ts';

/** Less than this counts as empty: at 4,000/s the spool always has the scans of the last 50 ms. */
const emptySeconds = 0.2;
const pollMs = 50;

/** A service with durability `disk` whose metrics can be read. */
export interface EdgeUnderTest {
  url: string;
  metric(name: string): Promise<number>;
  stop(): Promise<void>;
}

export async function startEdge(
  stack: BenchStack,
  { roles, settings = {} }: { roles?: string; settings?: Record<string, string> } = {},
): Promise<EdgeUnderTest> {
  const metricsPort = await freePort();
  const { port, stop } = await stack.serve({
    ...(roles === undefined ? {} : { roles }),
    settings: { EDGE_DURABILITY: 'disk', METRICS_PORT: String(metricsPort), ...settings },
  });
  return {
    url: `http://127.0.0.1:${port}/${stack.code.short_code}`,
    stop,
    async metric(name) {
      const text = await fetch(`http://127.0.0.1:${metricsPort}/metrics`).then((response) => response.text());
      return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1]);
    },
  };
}

/** Returns how long it took until the spool was empty. */
export async function untilEmpty(service: EdgeUnderTest, timeoutMs = 60_000): Promise<number> {
  const started = performance.now();
  while ((await service.metric('scanlog_spool_seconds_left')) > emptySeconds) {
    if (performance.now() - started > timeoutMs) break;
    await Bun.sleep(pollMs);
  }
  return performance.now() - started;
}
