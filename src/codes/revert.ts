import type { Account, AccountEvent } from '../../events/account.ts';
import { isCodeEvent } from '../../events/catalogue.ts';
import type { Code, ReadyChange } from '../../events/code.ts';
import type { CodeChanged, CodeEvent } from '../../events/code-events.ts';
import type { Owner } from '../../events/owner.ts';
import type { Actor, NewEvent, Recorded } from '../../events/recorded.ts';
import { type RevertScope, revertCode } from '../../events/revert.ts';
import { writeState } from '../../projections/state.ts';
import { invalid, notFound } from '../lib/errors.ts';
import { appendPrepared, prepare } from '../log/append.ts';
import type { Queryable, Sql, Transaction } from '../log/connect.ts';
import { retryLostRace } from '../log/decide.ts';
import { readStreams } from '../log/read.ts';
import { blockedHostsOf, problemsWithHosts, urlsOf } from './blocked-hosts.ts';
import { isLimitSet } from './change.ts';
import { problemsWithContent } from './content-problems.ts';
import { countUsed, lockLimits } from './limits.ts';

/** One revert is one transaction, which holds the lock of the log: scans wait for it in the spool. */
export const maxRevertedCodes = 5_000;
/** Events that one revert reads: all of its codes since the period began. */
const maxReadEvents = 100_000;

export interface RevertRequest extends RevertScope {
  /** Computes the same and changes nothing. */
  isDryRun: boolean;
  ownUrls: readonly string[];
}

export interface RevertResult {
  /** Codes that change, each with the events that undo something. */
  reverted: { code: Code; events: CodeChanged[] }[];
  skipped: { qr_id: string; reason: string }[];
  /** What was appended; nothing in a dry run. */
  recorded: Recorded<CodeEvent>[];
}

/**
 * Undoes what an actor did to the owner's codes in a period, in one transaction. If another request changes one of the codes
 * at the same time, all of it is computed once more.
 */
export const revert = (
  sql: Sql,
  owner: Owner,
  request: RevertRequest,
  by: { actor: Actor; now: Date },
): Promise<RevertResult> => retryLostRace(() => attempt(sql, owner, request, by));

async function attempt(
  sql: Sql,
  owner: Owner,
  request: RevertRequest,
  by: { actor: Actor; now: Date },
): Promise<RevertResult> {
  // One snapshot, so that codes and events fit together.
  const { account, touched } = await sql.begin('isolation level repeatable read read only', (tx) =>
    readTouched(tx, owner, request),
  );
  const blocked = await blockedHostsOf(
    sql,
    touched.flatMap(({ history }) => history.flatMap(earlierUrls)),
  );
  const problemWith = (change: ReadyChange) => {
    const [first] = [...problemsWithContent(change, request.ownUrls), ...problemsWithHosts(urlsOf(change), blocked)];
    return first && `The earlier value cannot come back: ${first.message}`;
  };
  const plans = touched.map(({ code, history }) => ({
    code,
    ...revertCode(code, history, request, problemWith),
  }));
  const reverted = plans.filter(({ events }) => events.length > 0);
  const skipped = plans.flatMap(({ code, skipped }) => skipped.map((reason) => ({ qr_id: code.id, reason })));
  if (request.isDryRun || reverted.length === 0) return { reverted, skipped, recorded: [] };
  const summary: AccountEvent = {
    type: 'account_reverted',
    data: {
      ...{ mode: owner.mode, actor: request.actor },
      ...{ from: request.from.toISOString(), to: request.to.toISOString() },
      ...{ changed: reverted.length, skipped: skipped.length },
    },
  };
  const recorded = await sql.begin((tx) => store(tx, account, reverted, summary, by));
  return { reverted, skipped, recorded };
}

interface Touched {
  code: Code;
  history: Recorded<CodeEvent>[];
}

/** Clocks of instances differ, so a code may have an earlier time than one of its versions. */
const maxClockDifferenceMs = 60_000;

/** The codes that the actor changed in the period, deleted ones included, each with its events since. */
async function readTouched(
  tx: Queryable,
  owner: Owner,
  { actor, from, to }: RevertScope,
): Promise<{ account: Account; touched: Touched[] }> {
  const [account] = await tx<Account[]>`SELECT * FROM accounts WHERE id = ${owner.account}`;
  // Deleted after the request was admitted.
  if (account === undefined) throw notFound('account');
  const codes = await tx<(Code & { since: number })[]>`
    SELECT c.*, first.version AS since FROM codes c
    CROSS JOIN LATERAL (
      SELECT min(version) AS version FROM events
      WHERE stream = c.id AND actor = ${actor} AND occurred_at BETWEEN ${from} AND ${to}
    ) AS first
    WHERE account = ${owner.account} AND mode = ${owner.mode} AND first.version IS NOT NULL
      AND updated_at >= ${new Date(from.getTime() - maxClockDifferenceMs)}
    ORDER BY position DESC LIMIT ${maxRevertedCodes + 1}`;
  if (codes.length > maxRevertedCodes) throw tooMuch(`more than ${maxRevertedCodes} codes`);
  const streams = codes.map(({ id, since }) => ({ stream: id, since }));
  const events = (await readStreams(tx, streams, maxReadEvents + 1)).filter(isCodeEvent);
  if (events.length > maxReadEvents) throw tooMuch(`codes with more than ${maxReadEvents} changes since then`);
  const byCode = Map.groupBy(events, ({ stream }) => stream);
  const touched = codes.map(({ since: _, ...code }) => ({ code, history: byCode.get(code.id) ?? [] }));
  return { account, touched };
}

const tooMuch = (what: string) => {
  const message = `In this period the key changed ${what}: choose a shorter period with from and to, the newest first.`;
  return invalid([{ field: 'from', message }]);
};

/** URLs that an event replaced, and a revert may bring back. */
function earlierUrls(event: CodeEvent): string[] {
  const change =
    event.type === 'destination_changed'
      ? { destination_url: event.data.from }
      : event.type === 'fallback_changed'
        ? { fallback_url: event.data.from }
        : event.type === 'rules_changed'
          ? { rules: event.data.from }
          : {};
  return urlsOf(change).map(({ url }) => url);
}

async function store(
  tx: Transaction,
  account: Account,
  reverted: RevertResult['reverted'],
  summary: AccountEvent,
  by: { actor: Actor; now: Date },
): Promise<Recorded<CodeEvent>[]> {
  const ofCodes = reverted.flatMap(({ code, events }) =>
    events.map((event, i): NewEvent<CodeChanged> => ({ stream: code.id, version: code.version + 1 + i, event })),
  );
  const limited = reverted.flatMap(({ code, events }) => (events.some(isLimitSet) ? [code.id] : []));
  const pending = [
    ...prepare<CodeChanged>(ofCodes, by),
    ...prepare<AccountEvent>([{ stream: account.id, version: account.version + 1, event: summary }], by),
  ];
  // Sent in this order, without waiting for answers in between: everyone else waits for the lock of the append.
  const [, recorded] = await Promise.all([
    limited.length === 0 ? undefined : lockLimits(tx, limited),
    appendPrepared(tx, pending),
    writeState(tx, { codes: reverted.map(({ code }) => code), accounts: [account] }, pending),
    limited.length === 0 ? undefined : countUsed(tx, limited),
  ]);
  return recorded.filter(isCodeEvent);
}
