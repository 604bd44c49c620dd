import type { Elysia } from 'elysia';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import { withTimeout } from '../lib/with-timeout.ts';

/** Asks one part whether it answers; rejects when it does not. */
export type Probe = () => Promise<unknown>;

/** Thrown by a probe whose part answers and cannot do all of its work: shown, and no reason to send requests elsewhere. */
export class Degraded extends Error {}

const probeTimeoutMs = 2_000;

interface Finding {
  status: 'ok' | 'degraded' | 'down';
  ms: number;
}

async function ask(part: string, probe: Probe, log: Logger): Promise<Finding> {
  const started = performance.now();
  const since = () => Math.round(performance.now() - started);
  try {
    await withTimeout(probe(), probeTimeoutMs, () => {
      throw new Error(`no answer within ${probeTimeoutMs} ms`);
    });
    return { status: 'ok', ms: since() };
  } catch (error) {
    // The cause goes to the log only: it may name addresses, which are not for the public.
    const isDegraded = error instanceof Degraded;
    log.warn({ part, error: messageOf(error) }, isDegraded ? 'part is degraded' : 'part does not answer');
    return { status: isDegraded ? 'degraded' : 'down', ms: since() };
  }
}

const answer = (status: number, body: unknown) =>
  Response.json(body, { status, headers: { 'cache-control': 'no-store' } });

/** `/healthz`: the process lives. `/readyz`: every part it needs answers, 503 when one is down. */
export function serveHealth(app: Elysia, probes: Record<string, Probe>, log: Logger): void {
  const hidden = { detail: { hide: true } };
  app.get('/healthz', () => answer(200, { status: 'ok' }), hidden);
  app.get(
    '/readyz',
    async () => {
      const findings = await Promise.all(
        Object.entries(probes).map(async ([name, probe]) => [name, await ask(name, probe, log)] as const),
      );
      const ready = findings.every(([, { status }]) => status !== 'down');
      return answer(ready ? 200 : 503, { status: ready ? 'ready' : 'not_ready', parts: Object.fromEntries(findings) });
    },
    hidden,
  );
}
