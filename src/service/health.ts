import type { Elysia } from 'elysia';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import { timeouts } from '../lib/timeouts.ts';
import { withTimeout } from '../lib/with-timeout.ts';

/** Checks one part of the service; rejects if the part does not answer. */
export type Probe = () => Promise<unknown>;

/** Thrown by a probe if the part answers but cannot do all of its work: reported, but `/readyz` stays 200. */
export class Degraded extends Error {}

interface Finding {
  status: 'ok' | 'degraded' | 'down';
  ms: number;
}

/** What `/readyz`, which is public, shows about a part beside its status. */
export type Details = Record<string, () => object>;

async function runProbe(part: string, probe: Probe, log: Logger): Promise<Finding> {
  const started = performance.now();
  const elapsedMs = () => Math.round(performance.now() - started);
  try {
    await withTimeout(probe(), timeouts.probeMs, () => {
      throw new Error(`no response within ${timeouts.probeMs} ms`);
    });
    return { status: 'ok', ms: elapsedMs() };
  } catch (error) {
    // The cause goes only to the log: it may contain internal addresses, and /readyz is public.
    const isDegraded = error instanceof Degraded;
    log.warn(
      { part, error: messageOf(error) },
      isDegraded ? 'part is degraded: still ready' : 'part is down: not ready',
    );
    return { status: isDegraded ? 'degraded' : 'down', ms: elapsedMs() };
  }
}

const answer = (status: number, body: unknown) =>
  Response.json(body, { status, headers: { 'cache-control': 'no-store' } });

/** Serves `/healthz`, 200 while the process runs, and `/readyz`, 503 if a part that the process needs is down. */
export function serveHealth(app: Elysia, probes: Record<string, Probe>, log: Logger, details: Details = {}): void {
  app.get('/healthz', () => answer(200, { status: 'ok' }));
  app.get('/readyz', async () => {
    const findings = await Promise.all(
      Object.entries(probes).map(async ([name, probe]) => [name, await runProbe(name, probe, log)] as const),
    );
    const ready = findings.every(([, { status }]) => status !== 'down');
    const parts = findings.map(([name, finding]) => [name, { ...finding, ...details[name]?.() }]);
    return answer(ready ? 200 : 503, { status: ready ? 'ready' : 'not_ready', parts: Object.fromEntries(parts) });
  });
}
