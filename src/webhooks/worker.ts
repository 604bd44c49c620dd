import { randomUUID } from 'node:crypto';
import { type EndpointKey, endpointKey } from '../../events/webhooks/endpoint.ts';
import type { Clock } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import { every } from '../lib/every.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { Sql } from '../lib/sql.ts';
import { timeouts } from '../lib/timeouts.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import { FairStarts } from './fair-starts.ts';
import { type EndpointTest, Leases } from './leases.ts';
import { startOutcomeStore } from './outcomes.ts';
import { startReplays } from './run-replays.ts';
import type { Send } from './send.ts';
import { Session, type SessionTools } from './session.ts';
import { startUpkeep } from './upkeep.ts';

export interface WorkerOptions {
  sql: Sql;
  box: SecretBox;
  send: Send;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  disable(key: EndpointKey, reason: 'gone' | 'failing', attemptedAt: Date): Promise<void>;
}

export interface Worker {
  /** Claims and continues these endpoints now, because they have new deliveries. */
  wake(endpoints: EndpointKey[]): void;
  stop(): Promise<void>;
}

/** Endpoints that one worker sends to at the same time; each has up to 8 requests in flight. */
const maxSessions = 256;
const pollMs = 500;
/** Without sessions; the projection wakes the worker of its process for new deliveries. */
const idlePollMs = 1_000;
const renewMs = 2_000;
/** Longer than any request, so that a worker that takes over a lease starts after the last request has ended. */
const leaseMs = () => timeouts.webhookSendMs + 5_000;
const marginMs = 1_000;
/** Timeout of requests in flight when the worker stops. */
const stopTimeoutMs = 3_000;

/** Sends due deliveries. Any number of workers may run; leases assign each endpoint to one of them at a time. */
export function startWorker(options: WorkerOptions): Worker {
  const { sql, clock, log, metrics } = options;
  const holder = randomUUID();
  const leases = new Leases(sql, holder, leaseMs());
  const outcomes = startOutcomeStore(sql, holder, log);
  const sessions = new Sessions({ ...options, leases, outcomes, starts: new FairStarts() });

  const onError = (error: unknown) =>
    log.warn({ error: messageOf(error) }, 'the webhook worker could not query Postgres: retrying');
  const claiming = every(pollMs, async () => ((await sessions.claim()) ? pollMs : idlePollMs), { onError });
  const wake = (endpoints: EndpointKey[]) => {
    sessions.wake(endpoints);
    claiming.wake();
  };
  const loops = [
    claiming,
    every(renewMs, () => sessions.renew(), { onError }),
    every(pollMs, () => sessions.refresh(), { onError }),
    startUpkeep({ sql, clock, log, metrics }),
    startReplays({ sql, clock, log, wake }),
  ];

  return {
    wake,
    async stop() {
      sessions.startNoMore();
      await Promise.all(loops.map((loop) => loop.stop()));
      await sessions.close();
      await outcomes.stop();
      // Leases that cannot be released expire.
      await leases.releaseAll().catch(() => {});
    },
  };
}

/** The sessions of one worker, by endpoint. */
class Sessions {
  readonly #tools: SessionTools;
  readonly #sessions = new Map<string, Session>();
  #renewedAt = Number.NEGATIVE_INFINITY;
  #isFull = false;
  #isStopping = false;

  constructor(shared: Omit<SessionTools, 'mayStart' | 'doOthersWait'>) {
    this.#tools = { ...shared, mayStart: (session) => this.#mayStart(session), doOthersWait: () => this.#isFull };
  }

  /**
   * Takes leases on endpoints with due deliveries, as many as there are free sessions, and starts a session for each.
   * Returns whether there are sessions.
   */
  async claim(): Promise<boolean> {
    const { leases, clock } = this.#tools;
    const claimedAt = performance.now();
    const free = maxSessions - this.#sessions.size;
    const { claimed, tests } = free > 0 ? await leases.claim(clock(), free) : { claimed: [], tests: [] };
    this.#isFull = claimed.length === free;
    for (const endpoint of claimed) {
      const key = endpointKey(endpoint);
      // The lease had expired and no other worker had taken it: the existing session continues.
      if (this.#sessions.has(key)) continue;
      const session = new Session(endpoint, claimedAt, this.#tools);
      this.#sessions.set(key, session);
      session.ended.then(() => this.#sessions.delete(key));
    }
    this.#setTests(claimed, tests, claimedAt);
    this.wake(claimed);
    return this.#sessions.size > 0;
  }

  /** Extends the leases of all sessions, and ends the sessions whose lease another worker has. */
  async renew(): Promise<void> {
    if (this.#sessions.size === 0) return;
    const { leases, log } = this.#tools;
    const sentAt = performance.now();
    const renewed = await leases.renew();
    const kept = new Set(renewed.kept.map(endpointKey));
    for (const endpoint of renewed.kept) this.#sessions.get(endpointKey(endpoint))?.noteReplaying(endpoint.replaying);
    this.#setTests(renewed.kept, renewed.tests, sentAt);
    this.#renewedAt = sentAt;
    for (const [key, session] of this.#sessions) {
      // A claim may commit after the renewal has read the leases, so newer sessions may be missing from `kept`.
      if (kept.has(key) || session.startedAt >= sentAt) session.wake();
      else {
        log.warn(
          session.endpoint,
          'lease on a webhook lost: its requests are aborted, another worker sends its deliveries',
        );
        session.abandon();
      }
    }
  }

  /** Reads example events, and continues all sessions. */
  async refresh(): Promise<void> {
    if (this.#sessions.size === 0) return;
    // Another instance may have added deliveries of an endpoint whose lease a slow request keeps here.
    for (const session of this.#sessions.values()) session.wake();
    const readAt = performance.now();
    const endpoints = [...this.#sessions.values()].map(({ endpoint }) => endpoint);
    this.#setTests(endpoints, await this.#tools.leases.tests(), readAt);
  }

  wake(endpoints: EndpointKey[]): void {
    for (const endpoint of endpoints) this.#sessions.get(endpointKey(endpoint))?.wake();
  }

  /** From now on, sessions start no more requests. */
  startNoMore(): void {
    this.#isStopping = true;
  }

  /** Waits for requests in flight, and aborts those that take too long. */
  async close(): Promise<void> {
    for (const session of this.#sessions.values()) session.close();
    const allEnded = Promise.all([...this.#sessions.values()].map(({ ended }) => ended));
    await withTimeout(allEnded, stopTimeoutMs, () => {});
    for (const session of this.#sessions.values()) session.abandon();
  }

  /** Whether the lease lasts longer than a request that starts now. */
  #mayStart({ claimedAt }: Session): boolean {
    const leaseEndsAt = Math.max(claimedAt, this.#renewedAt) + leaseMs();
    return !this.#isStopping && leaseEndsAt - performance.now() > timeouts.webhookSendMs + marginMs;
  }

  /** Passes the example events that were read at `readAt` to the sessions of `endpoints`. */
  #setTests(endpoints: EndpointKey[], tests: EndpointTest[], readAt: number): void {
    const byEndpoint = Map.groupBy(tests, endpointKey);
    for (const key of endpoints.map(endpointKey)) this.#sessions.get(key)?.leaveRoom(byEndpoint.get(key) ?? [], readAt);
  }
}
