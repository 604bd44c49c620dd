import type { Account, AccountEvent } from '../../events/account.ts';
import { isCodeEvent } from '../../events/catalogue.ts';
import type { Code } from '../../events/code.ts';
import { type ReadyChange, undoOf } from '../../events/code-change.ts';
import type { CodeEvent } from '../../events/code-events.ts';
import type { Owner } from '../../events/owner.ts';
import type { Actor, Recorded } from '../../events/recorded.ts';
import { type EventHead, type Reverted, type RevertScope, revertCode, versionsToUndo } from '../../events/revert.ts';
import { writeState } from '../../projections/state.ts';
import { accountTurn } from '../lib/account-turns.ts';
import { invalid, notFound, Refusal, retryLater, throwIfClosed } from '../lib/errors.ts';
import { EvenSteps } from '../lib/even-steps.ts';
import type { Queryable, Sql } from '../lib/sql.ts';
import { isPostgresUnavailable } from '../log/connect.ts';
import { decideAndAppend, retryLostRace } from '../log/decide.ts';
import { doneBy, readVersionsOf } from '../log/read.ts';
import { VersionTaken } from '../log/version-taken.ts';
import { blockedHostsOf, problemsWithHosts, urlsOf } from './blocked-hosts.ts';
import { problemsWithContent } from './content-problems.ts';
import { firstOf, maxEventsPerTransaction, store } from './store-changes.ts';

/** Codes of one revert: more would not be read and written before the request times out. */
export const maxRevertedCodes = 5_000;
/** Events of one revert: all of its codes since the period began. */
const maxReadEvents = 100_000;

export interface RevertRequest extends RevertScope {
  /** Only these codes; all of the owner's if undefined. */
  qrIds?: string[];
  /** Computes the same and changes nothing; ends when the signal aborts. */
  isDryRun: boolean;
  signal: AbortSignal;
  ownUrls: readonly string[];
  /** Called with the events of each transaction after its commit. */
  onRecorded(events: Recorded<CodeEvent>[]): Promise<void>;
  /** Called with the codes of each transaction: what changed, or would change, and what stays. False ends the revert after them. */
  onReverted?(codes: RevertedCode[]): boolean;
}

export interface RevertedCode extends Reverted {
  /** As it was before. */
  code: Code;
}

/** `onReverted` has ended the revert. */
class Ended extends Error {}

/** Numbers of codes that changed and of what stays. */
interface Totals {
  changed: number;
  skipped: number;
}

/**
 * Undoes what an actor did to the owner's codes in a period, in several transactions. If another request changes a code at the
 * same time, the codes of that transaction are computed once more. A revert that is interrupted says how far it got, and the
 * same request continues it, because what is undone already has nothing left to undo.
 */
export async function revert(
  sql: Sql,
  owner: Owner,
  request: RevertRequest,
  by: { actor: Actor; now: Date },
): Promise<void> {
  const touched = await accountTurn(owner.account, () => findTouched(sql, owner, request));
  const totals: Totals = { changed: 0, skipped: 0 };
  const steps = new EvenSteps();
  let count = 0;
  try {
    for (let size = maxEventsPerTransaction; count < touched.length; ) {
      if (request.isDryRun) throwIfClosed(request.signal);
      const next = touched.slice(count, count + size);
      const { done, recorded } = await steps.run(() =>
        retryLostRace(() => accountTurn(owner.account, () => revertNext(sql, owner, request, next, by))),
      );
      count += done.length;
      // Plans that do not fit are computed again: with large rules, only as many as will fit.
      size = Math.min(done.length * 2, maxEventsPerTransaction);
      for (const { events, skipped } of done) {
        if (events.length > 0) totals.changed++;
        totals.skipped += skipped.length;
      }
      if (recorded.length > 0) await request.onRecorded(recorded);
      if (request.onReverted?.(done) === false && count < touched.length) throw new Ended();
    }
  } catch (error) {
    if (request.isDryRun || totals.changed === 0) throw error;
    // Postgres may be unavailable. The history of each code has the changes anyway.
    await recordSummary(sql, owner, request, totals, by).catch(() => {});
    throw interrupted(error, count, touched.length);
  }
  if (!request.isDryRun && totals.changed > 0) await recordSummary(sql, owner, request, totals, by);
}

function interrupted(error: unknown, done: number, total: number): unknown {
  const message = `The revert ended after ${done} of ${total} QR codes, which stay reverted: send the request again for the others.`;
  if (error instanceof VersionTaken || error instanceof Ended) return new Refusal('conflict', message);
  return isPostgresUnavailable(error) ? retryLater(message) : error;
}

/** Adds the account's own event about the revert. */
async function recordSummary(
  sql: Sql,
  owner: Owner,
  { actor, from, to }: RevertScope,
  { changed, skipped }: Totals,
  by: { actor: Actor; now: Date },
): Promise<void> {
  const event: AccountEvent = {
    type: 'account_reverted',
    data: {
      mode: owner.mode,
      actor,
      from: from.toISOString(),
      to: to.toISOString(),
      changed,
      skipped,
    },
  };
  await decideAndAppend<Account, AccountEvent>(sql, owner.account, {
    load: async () => {
      const [account] = await sql<Account[]>`SELECT * FROM accounts WHERE id = ${owner.account}`;
      if (account === undefined) throw notFound('account');
      return account;
    },
    decide: () => [event],
    project: (tx, account, events) => writeState(tx, { accounts: [account] }, events),
    by,
  });
}

interface Touched {
  id: string;
  /** The version of the first event that may be undone. */
  since: number;
}

/** Reverts the first of these codes, as many as one transaction takes, at least one; in a dry run it only computes them. */
async function revertNext(
  sql: Sql,
  owner: Owner,
  request: RevertRequest,
  touched: Touched[],
  by: { actor: Actor; now: Date },
): Promise<{ done: RevertedCode[]; recorded: Recorded<CodeEvent>[] }> {
  const plans = await planReverts(sql, owner, request, touched);
  if (request.isDryRun) return { done: plans, recorded: [] };
  const done = firstOf(plans);
  return { done, recorded: await store(sql, done, by) };
}

async function planReverts(
  sql: Sql,
  owner: Owner,
  request: RevertRequest,
  touched: Touched[],
): Promise<RevertedCode[]> {
  // One snapshot, so that codes and events fit together.
  const found = await sql.begin('isolation level repeatable read read only', (tx) =>
    readHistories(tx, owner, touched, request),
  );
  const blocked = await blockedHostsOf(
    sql,
    found.flatMap(({ events }) => [...events.values()].flatMap(earlierUrls)),
  );
  const problemWith = (change: ReadyChange) => {
    const [first] = [...problemsWithContent(change, request.ownUrls), ...problemsWithHosts(urlsOf(change), blocked)];
    return first && `The earlier value cannot come back: ${first.message}`;
  };
  return found.map(({ code, history, events }) => ({
    code,
    ...revertCode(code, history, events, request, problemWith),
  }));
}

/** Clocks of instances differ, so a code may have an earlier time than one of its versions. */
const maxClockDifferenceMs = 60_000;

/** The codes that the actor changed in the period, deleted ones included, newest first. */
async function findTouched(
  sql: Queryable,
  owner: Owner,
  { actor, from, to, qrIds }: RevertRequest,
): Promise<Touched[]> {
  const touched = await sql<Touched[]>`
    SELECT c.id, first.version AS since FROM codes c
    CROSS JOIN LATERAL (
      SELECT min(version) AS version FROM events
      WHERE stream = c.id AND ${doneBy(sql, actor)} AND occurred_at BETWEEN ${from} AND ${to}
    ) AS first
    WHERE account = ${owner.account} AND mode = ${owner.mode} AND first.version IS NOT NULL
      AND updated_at >= ${new Date(from.getTime() - maxClockDifferenceMs)}
      ${qrIds === undefined ? sql`` : sql`AND c.id = ANY(${qrIds})`}
    ORDER BY position DESC LIMIT ${maxRevertedCodes + 1}`;
  if (touched.length > maxRevertedCodes) throw tooMuch(`more than ${maxRevertedCodes} codes`);
  const [{ events }] = await sql<[{ events: number }]>`
    SELECT count(*) AS events FROM (
      SELECT FROM jsonb_to_recordset(${sql.json(touched.map(({ id, since }) => ({ id, since })))}) AS t (id text, since int)
      JOIN events e ON e.stream = t.id AND e.version >= t.since LIMIT ${maxReadEvents + 1}
    ) AS since`;
  if (events > maxReadEvents) throw tooMuch(`codes with more than ${maxReadEvents} changes since then`);
  return touched;
}

interface History {
  code: Code;
  /** Its events since the first that may be undone. */
  history: EventHead[];
  /** Those whose earlier values may come back, by version. */
  events: ReadonlyMap<number, CodeEvent>;
}

/** The histories of the codes in the given order. */
async function readHistories(tx: Queryable, owner: Owner, touched: Touched[], scope: RevertScope): Promise<History[]> {
  const ids = touched.map(({ id }) => id);
  const codes = await tx<Code[]>`
    SELECT * FROM codes WHERE id = ANY(${ids}) AND account = ${owner.account} AND mode = ${owner.mode}`;
  const heads = await tx<(EventHead & { stream: string })[]>`
    SELECT stream, type, version, actor, occurred_at
    FROM jsonb_to_recordset(${tx.json(touched.map(({ id, since }) => ({ id, since })))}) AS t (id text, since int)
    JOIN events e ON e.stream = t.id AND e.version >= t.since
    ORDER BY stream, version`;
  const histories = Map.groupBy(heads, ({ stream }) => stream);
  const wanted = [...histories].flatMap(([stream, history]) =>
    versionsToUndo(history, scope).map((version) => ({ stream, version })),
  );
  const events = Map.groupBy((await readVersionsOf(tx, wanted)).filter(isCodeEvent), ({ stream }) => stream);
  const byId = new Map(codes.map((code) => [code.id, code]));
  return ids.map((id) => {
    const code = byId.get(id);
    // The account was deleted after the request was admitted.
    if (code === undefined) throw notFound('account');
    const byVersion = new Map((events.get(id) ?? []).map((event) => [event.version, event]));
    return { code, history: histories.get(id) ?? [], events: byVersion };
  });
}

const tooMuch = (what: string) => {
  const message = `In this period the key changed ${what}: choose a shorter period with from and to, the newest first.`;
  return invalid([{ field: 'from', message }]);
};

/** URLs that an event replaced, and a revert may bring back. */
const earlierUrls = (event: CodeEvent): string[] => urlsOf(undoOf(event) ?? {}).map(({ url }) => url);
