import { randomUUID } from 'node:crypto';
import { type Owner, ownerKey } from '../../events/owner.ts';
import type { Clock } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import { every } from '../lib/every.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { Sql } from '../lib/sql.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import { createLeases, type EndpointTest } from './leases.ts';
import { startOutcomeStore } from './outcomes.ts';
import { type Send, sendTimeoutMs } from './send.ts';
import { Session, type SessionTools } from './session.ts';
import { startUpkeep } from './upkeep.ts';

export interface WorkerOptions {
  sql: Sql;
  box: SecretBox;
  send: Send;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  disable(key: Owner, reason: 'gone' | 'failing'): Promise<void>;
}

export interface Worker {
  /** Something has come to wait for these: look now. */
  wake(endpoints: Owner[]): void;
  stop(): Promise<void>;
}

/** Endpoints that one worker sends for at the same time; each may have 8 requests under way. */
const sessionsMost = 256;
const pollMs = 500;
const renewMs = 2_000;
/** Longer than any request, so that whoever takes over begins when nothing is under way any more. */
const leaseMs = sendTimeoutMs + 5_000;
const marginMs = 1_000;
/** How long requests that are under way at the end may take. */
const graceMs = 3_000;

/** Sends what is due. Any number of workers may run; each endpoint is served by one of them at a time. */
export function startWorker(options: WorkerOptions): Worker {
  const { sql, clock, log, metrics } = options;
  const holder = randomUUID();
  const leases = createLeases(sql, holder, leaseMs);
  const outcomes = startOutcomeStore(sql, holder, log);
  const sessions = new Map<string, Session>();
  const stopping = new AbortController();
  let renewedAt = Number.NEGATIVE_INFINITY;
  let crowded = false;

  const tools: SessionTools = {
    ...{ ...options, leases, outcomes },
    mayStart: ({ claimedAt }) =>
      !stopping.signal.aborted &&
      Math.max(claimedAt, renewedAt) + leaseMs - performance.now() > sendTimeoutMs + marginMs,
    isCrowded: () => crowded,
  };

  async function claim(): Promise<void> {
    const claimedAt = performance.now();
    const room = sessionsMost - sessions.size;
    const { held, tests } = room > 0 ? await leases.claim(clock(), room) : { held: [], tests: [] };
    crowded = held.length === room;
    for (const endpoint of held) {
      const key = ownerKey(endpoint);
      // Its lease had run out while nobody else wanted it: the session of before goes on.
      if (sessions.has(key)) continue;
      const session = new Session(endpoint, claimedAt, tools);
      sessions.set(key, session);
      session.ended.then(() => sessions.delete(key));
    }
    leaveRoom(held, tests, claimedAt);
    for (const endpoint of held) sessions.get(ownerKey(endpoint))?.wake();
  }

  /** Tells the sessions of `endpoints` which example events there were at `readAt`. */
  function leaveRoom(endpoints: Owner[], tests: EndpointTest[], readAt: number): void {
    const byEndpoint = Map.groupBy(tests, ownerKey);
    for (const key of endpoints.map(ownerKey)) sessions.get(key)?.leaveRoom(byEndpoint.get(key) ?? [], readAt);
  }

  async function readTests(): Promise<void> {
    if (sessions.size === 0) return;
    const readAt = performance.now();
    const known = [...sessions.values()].map(({ held }) => held);
    leaveRoom(known, await leases.tests(), readAt);
  }

  async function renew(): Promise<void> {
    if (sessions.size === 0) return;
    const sentAt = performance.now();
    const renewed = await leases.renew();
    const kept = new Set(renewed.kept.map(ownerKey));
    leaveRoom(renewed.kept, renewed.tests, sentAt);
    renewedAt = sentAt;
    for (const [key, session] of sessions) {
      // A claim may commit after the renewal has read the leases: only a session that was there before can have lost one.
      if (kept.has(key) || session.startedAt >= sentAt) session.wake();
      else {
        log.warn(session.held, 'the lease on a webhook was lost');
        session.abandon();
      }
    }
  }

  async function wakeSessions(): Promise<void> {
    for (const session of sessions.values()) session.wake();
  }

  const onError = (error: unknown) =>
    log.warn({ error: messageOf(error) }, 'the webhook worker could not query Postgres: retrying');
  const claiming = every(pollMs, claim, { onError });
  const loops = [
    claiming,
    every(renewMs, renew, { onError }),
    every(pollMs, readTests, { onError }),
    // Other instances may have received deliveries while a slow request keeps the endpoint here.
    every(pollMs, wakeSessions, { onError }),
    startUpkeep({ sql, clock, log, metrics }),
  ];

  return {
    wake(endpoints) {
      for (const endpoint of endpoints) sessions.get(ownerKey(endpoint))?.wake();
      claiming.wake();
    },
    async stop() {
      stopping.abort();
      await Promise.all(loops.map((loop) => loop.stop()));
      for (const session of sessions.values()) session.close();
      const allEnded = Promise.all([...sessions.values()].map(({ ended }) => ended));
      await withTimeout(allEnded, graceMs, () => {});
      for (const session of sessions.values()) session.abandon();
      await outcomes.stop();
      await leases.releaseAll().catch(() => {});
    },
  };
}
