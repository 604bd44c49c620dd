import type { EndpointKey } from '../../events/webhooks/endpoint.ts';
import { notificationIn } from '../../projections/delivery-columns.ts';
import type { Clock } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { Sql } from '../lib/sql.ts';
import { bodyOf } from './body.ts';
import type { Due } from './deliveries.ts';
import { DueQueue } from './due-queue.ts';
import type { FairStarts, Sender } from './fair-starts.ts';
import type { EndpointTest, LeasedEndpoint, Leases } from './leases.ts';
import type { Outcome, OutcomeStore } from './outcomes.ts';
import { retryAfterMs, retryDelayMs } from './schedule.ts';
import type { Attempt, Send } from './send.ts';
import { signedHeaders } from './signature.ts';
import { findTarget, type Target, TargetCache } from './target.ts';
import { maxInFlight } from './test-slots.ts';

/** The dependencies that all sessions of a worker share. */
export interface SessionTools {
  sql: Sql;
  box: SecretBox;
  send: Send;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  leases: Leases;
  outcomes: OutcomeStore;
  starts: FairStarts;
  /** Disables a webhook until the account enables it again, unless it did so after the attempt. */
  disable(key: EndpointKey, reason: 'gone' | 'failing', attemptedAt: Date): Promise<void>;
  /** Whether the lease lasts longer than a request that begins now. */
  mayStart(session: Session): boolean;
  /** Whether other endpoints wait for a session. */
  doOthersWait(): boolean;
}

/** How long one endpoint is served while others wait. */
const maxTurnMs = 2_000;
const databaseRetryMs = 500;
const disableAfterMs = 5 * 24 * 60 * 60 * 1000;

interface Sent {
  attempt: Attempt;
  at: Date;
}

/** Sends the due deliveries of one endpoint, up to 8 at once, until none is left. Starts with the first `wake`. */
export class Session implements Sender {
  readonly endpoint: LeasedEndpoint;
  /** When the claim was sent, which is when the lease begins. */
  readonly claimedAt: number;
  /** When the claim was answered. */
  readonly startedAt = performance.now();
  readonly #tools: SessionTools;
  readonly #log: Logger;
  readonly #queue: DueQueue;
  readonly #target: TargetCache;
  readonly #ended = Promise.withResolvers<void>();
  readonly #aborts = new Set<AbortController>();
  /** Controllers of finished requests, for reuse. */
  readonly #spareAborts: AbortController[] = [];
  #inFlight = 0;
  #tests: EndpointTest[] = [];
  #testsReadAt = Number.NEGATIVE_INFINITY;
  /** Whether a statement is running: one at a time. */
  #isQuerying = false;
  /** `release`: another worker may take the endpoint at once; `postpone`: not before `databaseRetryMs`. */
  #closing: 'no' | 'release' | 'postpone' = 'no';
  #isOver = false;

  constructor(endpoint: LeasedEndpoint, claimedAt: number, tools: SessionTools) {
    this.endpoint = endpoint;
    this.claimedAt = claimedAt;
    this.#tools = tools;
    this.#log = tools.log.child({ account: endpoint.account, webhook: endpoint.webhook });
    this.#queue = new DueQueue(tools.sql, endpoint);
    this.#target = new TargetCache(() =>
      findTarget(tools.sql, tools.box, endpoint, tools.clock(), { onlyWhenOn: true }),
    );
  }

  get account(): string {
    return this.endpoint.account;
  }

  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Continues: there may be new deliveries, or the lease was extended. */
  wake(): void {
    // While all slots are taken and others wait, nothing needs to be read, unless a replay has taken them.
    const isBusy = this.#inFlight >= this.#maxDeliveries() && !this.#queue.isEmpty;
    if (!isBusy || this.#queue.hasOnlyReplayed) this.#queue.expectMore();
    this.#pump();
  }

  /** Reserves a slot for each of these example events, which were read at `readAt`, and grants it once it is free. */
  leaveRoom(tests: EndpointTest[], readAt: number): void {
    // Reads may finish out of order: an older one is ignored.
    if (readAt < this.#testsReadAt) return;
    this.#testsReadAt = readAt;
    this.#tests = tests;
    this.#pump();
  }

  /** Whether a replay of this endpoint may have deliveries. */
  noteReplaying(replaying: boolean): void {
    this.endpoint.replaying = replaying;
    if (!replaying) this.#queue.clearReplayed();
  }

  /** Starts no more requests, and releases the endpoint when those in flight have ended. */
  close(): void {
    if (this.#closing === 'no') this.#closing = 'release';
    this.#pump();
  }

  /** Aborts all requests without recording them: another worker has the endpoint, or the process stops. */
  abandon(): void {
    if (this.#isOver) return;
    this.#end();
    for (const abort of this.#aborts) abort.abort();
  }

  #end(): void {
    this.#isOver = true;
    this.#ended.resolve();
  }

  #maxDeliveries(): number {
    return maxInFlight - this.#tests.length;
  }

  /** Starts all statements that can start now, and requests when it is their turn. Called after every change of the session's state. */
  #pump(): void {
    if (this.#isOver) return;
    const isTurnOver = performance.now() - this.claimedAt > maxTurnMs;
    if (this.#closing === 'no' && isTurnOver && this.#tools.doOthersWait()) this.#closing = 'release';
    if (this.#closing !== 'no') this.#queue.clear();
    if (this.#canStart) this.#tools.starts.add(this);
    this.#grantTests();
    if (this.#isQuerying) return;
    if (this.#closing === 'no' && this.#queue.needsRefill) this.#query(() => this.#queue.refill(this.#tools.clock()));
    else if (this.#queue.unrecorded === 0) this.#query(() => this.#release());
  }

  get #canStart(): boolean {
    return (
      !this.#isOver && this.#inFlight < this.#maxDeliveries() && !this.#queue.isEmpty && this.#tools.mayStart(this)
    );
  }

  /** Starts the next delivery, if it can; returns whether it can start another one now. */
  startNext(): boolean {
    const delivery = this.#canStart ? this.#queue.next() : undefined;
    if (delivery !== undefined) void this.#deliver(delivery);
    return this.#canStart;
  }

  #grantTests(): void {
    const waiting = this.#tests.filter(({ granted }) => !granted);
    if (waiting.length === 0 || this.#inFlight > this.#maxDeliveries()) return;
    // If this fails, the next read returns them as waiting again.
    for (const test of waiting) test.granted = true;
    this.#tools.leases.grantTests(waiting.map(({ id }) => id)).catch((error) => {
      this.#log.warn({ error: messageOf(error) }, 'a slot could not be granted to an example event: retrying');
    });
  }

  #query(step: () => Promise<void>): void {
    this.#isQuerying = true;
    step()
      .catch(async (error) => {
        this.#log.warn({ error: messageOf(error) }, 'a query for webhook deliveries failed: retrying');
        await new Promise((resolve) => setTimeout(resolve, databaseRetryMs));
        this.#queue.expectMore();
      })
      .finally(() => {
        this.#isQuerying = false;
        this.#pump();
      });
  }

  async #release(): Promise<void> {
    const { clock, leases } = this.#tools;
    const now = clock();
    if (this.#closing === 'postpone') await leases.postpone(this.endpoint, new Date(now.getTime() + databaseRetryMs));
    else {
      const kept = await leases.release(this.endpoint, now, this.#closing === 'release');
      if (kept !== undefined) {
        this.noteReplaying(kept.replaying);
        return this.#queue.expectMore();
      }
    }
    this.#end();
  }

  async #deliver(delivery: Due): Promise<void> {
    const { metrics } = this.#tools;
    this.#inFlight++;
    metrics.webhooksInFlight.n++;
    const sent = await this.#send(delivery);
    this.#inFlight--;
    metrics.webhooksInFlight.n--;
    if (sent === undefined) this.#queue.putBack(delivery);
    this.#pump();
    if (sent === undefined) return;
    metrics.webhookAttempts.count(sent.attempt.outcome);
    await this.#record(delivery, sent);
    this.#pump();
  }

  /** Returns undefined, and closes the session, when nothing may be sent to the webhook or sending failed on our side. */
  async #send(delivery: Due): Promise<Sent | undefined> {
    try {
      const target = await this.#target.get();
      if (target !== undefined) return await this.#post(delivery, target);
    } catch (error) {
      if (!this.#isOver) this.#log.warn({ error: messageOf(error) }, 'a webhook delivery could not be sent: retrying');
    }
    this.#closing = 'postpone';
    return undefined;
  }

  async #post(delivery: Due, { url, secrets, body: format }: Target): Promise<Sent> {
    const at = this.#tools.clock();
    const body = JSON.stringify(bodyOf({ ...notificationIn(delivery), qr_name: delivery.qr_name }, format));
    const headers = signedHeaders({ id: delivery.id, at, body, secrets });
    const abort = this.#spareAborts.pop() ?? new AbortController();
    this.#aborts.add(abort);
    try {
      return { attempt: await this.#tools.send({ url, body, headers }, abort), at };
    } finally {
      this.#aborts.delete(abort);
      if (!abort.signal.aborted) this.#spareAborts.push(abort);
    }
  }

  async #record(delivery: Due, { attempt, at }: Sent): Promise<void> {
    const { clock, outcomes } = this.#tools;
    const state = await outcomes.record({ ...this.endpoint, ...outcomeOf(delivery, attempt, at, clock()) });
    this.#queue.markRecorded(delivery);
    if (state === undefined) return this.abandon();
    const failingMs = state.failing_since === null ? 0 : clock().getTime() - state.failing_since.getTime();
    if (attempt.status === 410) await this.#disable('gone', at);
    else if (failingMs >= disableAfterMs) await this.#disable('failing', at);
  }

  async #disable(reason: 'gone' | 'failing', attemptedAt: Date): Promise<void> {
    this.#closing = 'postpone';
    await this.#tools.disable(this.endpoint, reason, attemptedAt).catch((error) => {
      this.#log.error({ error: messageOf(error) }, 'a webhook could not be disabled: the next failed delivery retries');
    });
  }
}

function outcomeOf({ id, tries }: Due, attempt: Attempt, at: Date, now: Date): Omit<Outcome, keyof EndpointKey> {
  const { ms, status, answer, error, outcome, retryAfter } = attempt;
  const delayMs = status === 410 ? undefined : retryDelayMs(tries + 1, retryAfterMs(retryAfter, now));
  const nextStatus = outcome === 'delivered' ? 'delivered' : delayMs === undefined ? 'failed' : 'pending';
  return {
    id,
    status: nextStatus,
    due_at: new Date(now.getTime() + (delayMs ?? 0)).toISOString(),
    attempt: { at: at.toISOString(), ms, status, answer, error },
    at: now.toISOString(),
  };
}
