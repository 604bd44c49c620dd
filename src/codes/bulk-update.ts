import { type BulkChange, changeFor, whyUnchanged } from '../../events/bulk-change.ts';
import { type Code, type CodeChange, changeCode } from '../../events/code.ts';
import type { CodeChanged, CodeEvent } from '../../events/code-events.ts';
import type { Owner } from '../../events/owner.ts';
import { afterStart } from '../../events/read-fields.ts';
import type { Actor, Recorded } from '../../events/recorded.ts';
import { maxTags } from '../../events/targeting/targeting-words.ts';
import { accountTurn } from '../lib/account-turns.ts';
import { type ErrorCode, type FieldError, invalid, Refusal, retryLater, throwIfClosed } from '../lib/errors.ts';
import { EvenSteps } from '../lib/even-steps.ts';
import { newRuleId } from '../lib/ids.ts';
import type { Sql } from '../lib/sql.ts';
import { isPostgresUnavailable } from '../log/connect.ts';
import { retryLostRace } from '../log/decide.ts';
import { VersionTaken } from '../log/version-taken.ts';
import { blockedHostsOf, problemsWithHosts, urlsOf } from './blocked-hosts.ts';
import { problemsWithContent } from './content-problems.ts';
import { revert } from './revert.ts';
import { type CodePlan, firstOf, store } from './store-changes.ts';

/** Codes of one bulk update. */
export const maxUpdatedCodes = 1_000;
/** Characters of all changes of one bulk update, which its response contains. */
const maxCharacters = 4_194_304;
/** Codes that are read at a time: their rules may have 400 kB each. */
const readSize = 50;
const maxErrors = 20;

export interface BulkUpdate {
  change: BulkChange;
  /** Computes the same and changes nothing. */
  isDryRun: boolean;
  /** Ends it before the first change. */
  signal: AbortSignal;
  ownUrls: readonly string[];
  /** Called with the events of each transaction after its commit. */
  onRecorded(events: Recorded<CodeEvent>[]): Promise<void>;
  now(): Date;
}

export interface BulkUpdated {
  /** Codes that change, in the given order, with the name from before, and the events that change them. */
  changed: { qr_id: string; name: string; events: CodeChanged[] }[];
  skipped: { qr_id: string; reason: string }[];
}

interface By {
  actor: Actor;
  now: Date;
}

/**
 * Changes many codes, all or none. Everything is computed and checked before the first change. Then it is stored in several
 * transactions, so that none holds the append lock for long; if one of them fails, those before it are reverted.
 */
export async function updateMany(
  sql: Sql,
  owner: Owner,
  ids: string[],
  update: BulkUpdate,
  by: By,
): Promise<BulkUpdated> {
  const planned = await planAll(sql, owner, ids, update);
  if (update.isDryRun) return planned;
  const result: BulkUpdated = { changed: [], skipped: planned.skipped };
  const qrIds = planned.changed.map(({ qr_id }) => qr_id);
  const waiting = [...qrIds];
  const steps = new EvenSteps();
  try {
    while (waiting.length > 0) {
      const next = waiting.slice(0, readSize);
      const { done, recorded } = await steps.run(() =>
        retryLostRace(() => accountTurn(owner.account, () => storeNext(sql, owner, next, update, by))),
      );
      for (const id of waiting.splice(0, done.length)) addTo(result, id, done.shift(), update.change);
      if (recorded.length > 0) await update.onRecorded(recorded);
    }
  } catch (error) {
    await revertAll(sql, owner, qrIds, update, by, error);
    throw refusalOf(error);
  }
  return result;
}

/** Stores the changes of the first of these codes, as many as one transaction takes. */
async function storeNext(
  sql: Sql,
  owner: Owner,
  ids: string[],
  update: BulkUpdate,
  by: By,
): Promise<{ done: (CodePlan | undefined)[]; recorded: Recorded<CodeEvent>[] }> {
  const plans = await planCodes(sql, owner, ids, update);
  const fitting = firstOf(plans.filter((plan) => plan !== undefined));
  const last = fitting.at(-1);
  const done = plans.slice(0, plans.lastIndexOf(last) + 1);
  return { done, recorded: await store(sql, fitting, by) };
}

function addTo({ changed, skipped }: BulkUpdated, qr_id: string, plan: CodePlan | undefined, change: BulkChange): void {
  if (plan === undefined) skipped.push({ qr_id, reason: 'It was deleted meanwhile.' });
  else if (plan.events.length === 0) skipped.push({ qr_id, reason: whyUnchanged(plan.code, change) });
  else changed.push({ qr_id, name: plan.code.name, events: plan.events });
}

const refusalOf = (error: unknown) =>
  error instanceof VersionTaken
    ? new Refusal(
        'conflict',
        'Another request changed some of the codes at the same time: nothing is changed. Try again.',
      )
    : error;

/**
 * Reverts what is stored already, also by a transaction whose outcome is unknown. If that fails too, the error says how to do
 * it later.
 */
async function revertAll(
  sql: Sql,
  owner: Owner,
  qrIds: string[],
  { ownUrls, onRecorded, now, signal }: BulkUpdate,
  { actor, now: at }: By,
  cause: unknown,
): Promise<void> {
  const scope = { actor, from: at, to: at, qrIds, isDryRun: false, ownUrls, onRecorded, signal };
  await revert(sql, owner, scope, { actor, now: now() }).catch(() => {
    const undo = JSON.stringify({ actor, from: at, to: at });
    const message = `The update was interrupted, and some QR codes may stay changed: undo it with POST /v1/account/revert ${undo}.`;
    throw isPostgresUnavailable(cause) ? retryLater(message) : new Refusal('conflict', message);
  });
}

/** What the update changes, without changing it. Throws 400 if a code cannot have its new values. */
async function planAll(sql: Sql, owner: Owner, ids: string[], update: BulkUpdate): Promise<BulkUpdated> {
  const result: BulkUpdated = { changed: [], skipped: [] };
  const steps = new EvenSteps();
  let characters = 0;
  for (let i = 0; i < ids.length; i += readSize) {
    throwIfClosed(update.signal);
    const next = ids.slice(i, i + readSize);
    const plans = await steps.run(() => accountTurn(owner.account, () => planCodes(sql, owner, next, update)));
    characters += JSON.stringify(plans.flatMap((plan) => plan?.events ?? [])).length;
    if (characters > maxCharacters) throw tooLarge();
    for (const [n, id] of next.entries()) addTo(result, id, plans[n], update.change);
  }
  return result;
}

const tooLarge = () => {
  const message = `The changes have more than ${maxCharacters.toLocaleString('en')} characters: choose fewer codes.`;
  return invalid([{ field: 'body', message }]);
};

/** The codes in the given order, each with the events of its change; undefined for one that is deleted. */
async function planCodes(
  sql: Sql,
  { account, mode }: Owner,
  ids: string[],
  { change, ownUrls }: BulkUpdate,
): Promise<(CodePlan | undefined)[]> {
  const codes = await sql<Code[]>`
    SELECT * FROM codes
    WHERE id = ANY(${ids}) AND account = ${account} AND mode = ${mode} AND status <> 'deleted'`;
  const wanted = codes.map((code) => ({ code, change: changeFor(code, change) }));
  const urls = new Set(wanted.flatMap(({ change }) => urlsOf(change).map(({ url }) => url)));
  const blocked = await blockedHostsOf(sql, [...urls]);
  const problemsWithValues = rememberingLast((change: CodeChange) => problemsWithContent(change, ownUrls));
  refuse(
    wanted.flatMap(({ code, change }) => [
      ...[...problemsWithValues(change), ...problemsWith(code, change)].map((error) =>
        namingCode(code, 'invalid_request', error),
      ),
      ...problemsWithHosts(urlsOf(change), blocked).map((error) => namingCode(code, 'destination_blocked', error)),
    ]),
  );
  const plans = new Map(
    wanted.map(({ code, change }) => [code.id, { code, events: changeCode(code, change, newRuleId) }]),
  );
  return ids.map((id) => plans.get(id));
}

interface CodeError {
  kind: ErrorCode;
  error: FieldError;
}

const namingCode = ({ id, name }: Code, kind: ErrorCode, { field, message }: FieldError): CodeError => ({
  kind,
  error: { field, message: `${id} (${name}): ${message}` },
});

function refuse([first, ...rest]: CodeError[]): void {
  if (first === undefined) return;
  const more = rest.length > 0 ? ` (and ${rest.length} more)` : '';
  const details = [first, ...rest].slice(0, maxErrors).map(({ error }) => error);
  throw new Refusal(first.kind, `${first.error.message}${more} Nothing is changed.`, details);
}

/** Most updates give all codes the same values, which are checked once then. */
function rememberingLast(check: (change: CodeChange) => FieldError[]): typeof check {
  let last: { change: CodeChange; errors: FieldError[] } | undefined;
  return (change) => {
    const isSame =
      last?.change.destination_url === change.destination_url &&
      last?.change.rules === change.rules &&
      last?.change.fallback_url === change.fallback_url;
    if (last === undefined || !isSame) last = { change, errors: check(change) };
    return last.errors;
  };
}

/** What is wrong with a change together with what the code has. */
function problemsWith(code: Code, change: CodeChange): FieldError[] {
  const errors: FieldError[] = [];
  const { starts_at = code.starts_at, expires_at = code.expires_at, tags } = change;
  if (starts_at && expires_at && starts_at >= expires_at)
    errors.push({ field: 'expires_at', message: `expires_at ${afterStart}.` });
  if (tags && tags.length > maxTags)
    errors.push({ field: 'tags', message: `tags must have at most ${maxTags} tags, and would have ${tags.length}.` });
  return errors;
}
