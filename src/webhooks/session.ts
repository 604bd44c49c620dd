import type { Clock } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import { bodyOf } from './body.ts';
import { type Due, dueDeliveries } from './deliveries.ts';
import type { EndpointTest, Held, Leases } from './leases.ts';
import type { Recorder, Result } from './recorder.ts';
import { askedPatience, waitAfter } from './schedule.ts';
import type { Attempt, Send } from './send.ts';
import { signedHeaders } from './signature.ts';
import type { EndpointKey, Sql } from './sql.ts';
import { findTarget, type Target } from './target.ts';
import { maxInFlight } from './test-slots.ts';

/** What all sessions of a worker work with. */
export interface SessionTools {
  sql: Sql;
  box: SecretBox;
  send: Send;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  leases: Leases;
  recorder: Recorder;
  /** Switches a webhook off for good. */
  disable(key: EndpointKey, reason: 'gone' | 'failing'): Promise<void>;
  /** Whether the lease lasts longer than a request that begins now. */
  mayStart(session: Session): boolean;
  /** Whether other endpoints wait for a place. */
  isCrowded(): boolean;
}

export interface Session {
  held: Held;
  /** When the claim was sent: its lease counts from then. */
  claimedAt: number;
  /** When the claim was answered. */
  startedAt: number;
  ended: Promise<void>;
  /** There may be something new to send, or the lease is longer again. */
  wake(): void;
  /** Leaves a slot for each of these example events, as read at `readAt`, and grants it once it is free. */
  leaveRoom(tests: EndpointTest[], readAt: number): void;
  /** Begins nothing more, and gives the endpoint back when all that is under way has ended. */
  close(): void;
  /** Another worker has the endpoint now, or nobody can wait: ends all that is under way, and records nothing. */
  abandon(): void;
}

/** What is read in advance: for one endpoint, when fewer are left, so many; never more than so many unrecorded. */
const ahead = { low: 128, fetch: 512, handled: 2048 };
/** How long one endpoint keeps its place while others wait. */
const turnMs = 2_000;
/** For how long a URL or secret is used without looking whether it still is the one. */
const targetMs = 500;
const retryMs = 500;
const givesUpAfterMs = 5 * 24 * 60 * 60 * 1000;

/** Sends what is due for one endpoint, up to 8 at once, until nothing is left. */
export function startSession(held: Held, claimedAt: number, tools: SessionTools): Session {
  const { sql, clock, leases, recorder, metrics } = tools;
  const log = tools.log.child({ account: held.account, mode: held.mode });
  const queue: Due[] = [];
  /** Taken, and not yet known to be gone from what waits. */
  const handled = new Set<string>();
  let stored: string[] = [];
  let last: Due | undefined;
  let inFlight = 0;
  let tests: EndpointTest[] = [];
  let testsReadAt = Number.NEGATIVE_INFINITY;
  let mayHaveMore = true;
  let busy = false;
  let closing: 'no' | 'release' | 'postpone' = 'no';
  let over = false;
  let target: { value: Promise<Target | undefined>; until: number } | undefined;
  const underWay = new Set<AbortController>();
  const spare: AbortController[] = [];
  const ended = Promise.withResolvers<void>();

  const end = () => {
    over = true;
    ended.resolve();
  };

  function currentTarget(): Promise<Target | undefined> {
    const now = performance.now();
    if (target === undefined || target.until < now) {
      const value = findTarget(sql, tools.box, held, clock(), { onlyWhenOn: true });
      target = { value, until: now + targetMs };
      value.catch(() => {
        target = undefined;
      });
    }
    return target.value;
  }

  const maxDeliveries = () => maxInFlight - tests.length;

  function grantTests(): void {
    const waiting = tests.filter(({ granted }) => !granted);
    if (waiting.length === 0 || inFlight > maxDeliveries()) return;
    // Should this fail, the next read shows them as waiting again.
    for (const test of waiting) test.granted = true;
    leases.grantTests(waiting.map(({ id }) => id)).catch((error) => {
      log.warn({ error: messageOf(error) }, 'an example event could not be given a slot');
    });
  }

  function pump(): void {
    if (over) return;
    if (closing === 'no' && tools.isCrowded() && performance.now() - claimedAt > turnMs) closing = 'release';
    if (closing !== 'no') for (const { id } of queue.splice(0)) handled.delete(id);
    while (inFlight < maxDeliveries() && queue.length > 0 && tools.mayStart(session))
      void deliver(queue.shift() as Due);
    grantTests();
    if (busy) return;
    const unfinished = handled.size - stored.length;
    if (closing === 'no' && mayHaveMore && queue.length < ahead.low && unfinished < ahead.handled) work(look);
    else if (unfinished === 0) work(giveBack);
  }

  /** One question to the database at a time. */
  function work(step: () => Promise<void>): void {
    busy = true;
    step()
      .catch(async (error) => {
        log.warn({ error: messageOf(error) }, 'webhooks wait for the database');
        await new Promise((resolve) => setTimeout(resolve, retryMs));
        mayHaveMore = true;
      })
      .finally(() => {
        busy = false;
        pump();
      });
  }

  async function look(): Promise<void> {
    mayHaveMore = false;
    // Recorded before this look began: if one is shown all the same, it is to be sent again.
    for (const id of stored) handled.delete(id);
    stored = [];
    // On from the last one, so that what is under way is not read again and again; from the start once that is all.
    const most = ahead.fetch + (last === undefined ? handled.size : 0);
    const due = await dueDeliveries(sql, held, { now: clock(), most, after: last });
    last = due.length === most ? due.at(-1) : undefined;
    if (last !== undefined) mayHaveMore = true;
    for (const delivery of due) {
      if (handled.has(delivery.id)) continue;
      handled.add(delivery.id);
      queue.push(delivery);
    }
  }

  async function giveBack(): Promise<void> {
    const now = clock();
    if (closing === 'postpone') await leases.postpone(held, new Date(now.getTime() + retryMs));
    else if (!(await leases.release(held, now, closing === 'release'))) {
      mayHaveMore = true;
      return;
    }
    end();
  }

  async function deliver(delivery: Due): Promise<void> {
    inFlight++;
    metrics.webhooksInFlight.n++;
    let sent: { attempt: Attempt; at: Date } | undefined;
    try {
      const to = await currentTarget();
      if (to === undefined) closing = 'postpone';
      else sent = await post(delivery, to);
    } catch (error) {
      if (!over) log.warn({ error: messageOf(error) }, 'a webhook could not be sent');
      closing = 'postpone';
    }
    inFlight--;
    metrics.webhooksInFlight.n--;
    if (sent === undefined) handled.delete(delivery.id);
    pump();
    if (sent === undefined) return;
    metrics.webhookAttempts.count(sent.attempt.outcome);
    await record(delivery, sent.attempt, sent.at);
    pump();
  }

  async function post(delivery: Due, { url, secrets }: Target): Promise<{ attempt: Attempt; at: Date }> {
    const at = clock();
    const body = bodyOf(delivery);
    const headers = signedHeaders({ id: delivery.id, at, body, secrets });
    const abort = spare.pop() ?? new AbortController();
    underWay.add(abort);
    try {
      return { attempt: await tools.send({ url, body, headers }, abort), at };
    } finally {
      underWay.delete(abort);
      if (!abort.signal.aborted) spare.push(abort);
    }
  }

  async function record(delivery: Due, attempt: Attempt, at: Date): Promise<void> {
    const endpoint = await recorder.record({ ...held, ...resultOf(delivery, attempt, at, clock()) });
    stored.push(delivery.id);
    if (endpoint === undefined) return abandon();
    const failedFor = endpoint.failing_since === null ? 0 : clock().getTime() - endpoint.failing_since.getTime();
    const reason = attempt.status === 410 ? 'gone' : failedFor >= givesUpAfterMs ? 'failing' : undefined;
    if (reason === undefined) return;
    closing = 'postpone';
    await tools.disable(held, reason).catch((error) => {
      log.error({ error: messageOf(error) }, 'a webhook could not be disabled; the next failure tries again');
    });
  }

  function abandon(): void {
    if (over) return;
    end();
    for (const abort of underWay) abort.abort();
  }

  const session: Session = {
    held,
    claimedAt,
    startedAt: performance.now(),
    ended: ended.promise,
    wake() {
      // With all places taken there is nothing to look for: what is new is seen when one is free.
      if (inFlight < maxDeliveries()) mayHaveMore = true;
      pump();
    },
    leaveRoom(read, readAt) {
      // Reads may overtake each other; one from before the lease was taken does not count.
      if (readAt < testsReadAt) return;
      testsReadAt = readAt;
      tests = read;
      pump();
    },
    close() {
      if (closing === 'no') closing = 'release';
      pump();
    },
    abandon,
  };
  return session;
}

function resultOf({ id, tries }: Due, attempt: Attempt, at: Date, now: Date): Omit<Result, keyof EndpointKey> {
  const { ms, status, answer, error, outcome, retryAfter } = attempt;
  const wait = status === 410 ? undefined : waitAfter(tries + 1, askedPatience(retryAfter, now));
  const next = outcome === 'delivered' ? 'delivered' : wait === undefined ? 'failed' : 'pending';
  return {
    id,
    status: next,
    due_at: new Date(now.getTime() + (wait ?? 0)).toISOString(),
    attempt: { at: at.toISOString(), ms, status, answer, error },
    at: now.toISOString(),
  };
}
