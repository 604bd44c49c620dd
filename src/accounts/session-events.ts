import type { Account, AccountEvent } from '../../events/account.ts';
import type { Mode } from '../../events/plans.ts';
import type { Actor } from '../../events/recorded.ts';
import type { SessionEndCause, SessionEvent, SignInFailure, SignInMeans } from '../../events/session.ts';
import { writeState } from '../../projections/state.ts';
import type { Queryable, Sql, Transaction } from '../lib/sql.ts';
import { appendAndCommit, prepare } from '../log/append.ts';
import { locks } from '../log/locks.ts';
import { VersionTaken } from '../log/version-taken.ts';

/** Bounds what a flood of failed attempts with a known key adds to the log. */
const maxFailuresPerHour = 10;
/** A lost race is with another kind of change of the account, since sign-ins wait for each other. */
const maxAttempts = 5;

interface BySomeone {
  event: SessionEvent;
  actor: Actor;
}

/** Runs `change`, and appends the events that it returns to the account's stream, in one transaction. */
export async function withSessionEvents<T>(
  sql: Sql,
  account: string,
  now: Date,
  change: (tx: Transaction) => Promise<{ result: T; events: BySomeone[] }>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      const { result } = await sql.begin(async (tx) => {
        await tx`SELECT pg_advisory_xact_lock(${locks.signIns}, hashtext(${account}))`;
        const changed = await change(tx);
        if (changed.events.length > 0) await appendTo(tx, account, changed.events, now);
        return changed;
      });
      return result;
    } catch (error) {
      if (!(error instanceof VersionTaken) || attempt === maxAttempts) throw error;
    }
  }
}

async function appendTo(tx: Transaction, id: string, events: BySomeone[], now: Date): Promise<void> {
  const [account] = await tx<Account[]>`SELECT * FROM accounts WHERE id = ${id}`;
  // The account was deleted meanwhile: its log has ended.
  if (account === undefined) return;
  const pending = events.flatMap(({ event, actor }, i) =>
    prepare<AccountEvent>([{ stream: id, version: account.version + 1 + i, event }], { actor, now }),
  );
  await writeState(tx, { accounts: [account] }, pending);
  await appendAndCommit(tx, pending);
}

interface Started {
  session: { id: string; keys: { mode: Mode }[]; user: object | null };
  device: string;
  browser: string;
}

/** The event of a session that was started; none if it was not. */
export function startedEvents(
  started: Started | undefined,
  actor: Actor,
  { by, isNewDevice = false }: { by: SignInMeans; isNewDevice?: boolean },
): BySomeone[] {
  if (started === undefined) return [];
  const { session, device, browser } = started;
  const mode = session.user !== null || session.keys.some((key) => key.mode === 'live') ? 'live' : 'test';
  const data = { session: session.id, mode, by, device, browser, is_new_device: isNewDevice } as const;
  return [{ actor, event: { type: 'session_started', data } }];
}

export const endedEvent = ({ id, mode }: { id: string; mode: Mode }, actor: Actor, by: SessionEndCause): BySomeone => ({
  actor,
  event: { type: 'session_ended', data: { session: id, mode, by } },
});

/** Records a failed sign-in, unless there were too many in the last hour. */
export const recordFailedSignIn = (
  sql: Sql,
  account: string,
  { actor, mode, reason }: { actor: Actor; mode: Mode; reason: SignInFailure },
  now: Date,
): Promise<void> =>
  withSessionEvents(sql, account, now, async (tx) => {
    const isFull = (await failuresSince(tx, account, new Date(now.getTime() - 3_600_000))) >= maxFailuresPerHour;
    return {
      result: undefined,
      events: isFull ? [] : [{ actor, event: { type: 'sign_in_failed', data: { mode, reason } } }],
    };
  });

/** Counts those among the last 200 events of the account, so that the query stays cheap. */
async function failuresSince(tx: Queryable, account: string, since: Date): Promise<number> {
  const [row] = await tx<[{ count: number }]>`
    SELECT count(*) FILTER (WHERE type = 'sign_in_failed' AND occurred_at > ${since}) AS count
    FROM (SELECT type, occurred_at FROM events WHERE stream = ${account} ORDER BY version DESC LIMIT 200) AS latest`;
  return row.count;
}
