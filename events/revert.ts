import { isDoneBy } from './actor.ts';
import type { Code } from './code.ts';
import { changeTo, type ReadyChange, undoneField, undoOf } from './code-change.ts';
import type { CodeChanged, CodeEvent } from './code-events.ts';
import { type Actor, operator, service } from './recorded.ts';

/** What is undone: the changes by one actor, and by the clients of a key, in a period, both ends included. */
export interface RevertScope {
  actor: Actor;
  from: Date;
  to: Date;
}

export interface Reverted {
  /** The events that undo the changes; none if nothing is left to undo. */
  events: CodeChanged[];
  /** Sentences about what stays as it is, and why. */
  skipped: string[];
}

/** An event without its data, of which a code that was changed often can have hundreds of MB. */
export interface EventHead {
  type: CodeEvent['type'];
  version: number;
  actor: Actor;
  occurred_at: Date;
}

/** Events of the code without gaps, up to its newest, oldest first: at least those since the first of the period. */
type History = readonly EventHead[];
type IsUndone = (event: EventHead) => boolean;

const undoneBy =
  (scope: RevertScope): IsUndone =>
  ({ actor, occurred_at }) =>
    isDoneBy(actor, scope.actor) && occurred_at >= scope.from && occurred_at <= scope.to;

/** The versions whose data `revertCode` needs, at most one for each field. */
export function versionsToUndo(history: History, scope: RevertScope): number[] {
  const isUndone = undoneBy(scope);
  return fieldsToUndo(history, isUndone).flatMap((field) => firstUndone(history, field, isUndone).first?.version ?? []);
}

/**
 * Undoes what an actor did to a code in a period, field by field. A field that someone else changed later keeps its value.
 *
 * @param events The events of `versionsToUndo`, by version.
 * @param problemWith What is wrong now with a value that would come back, such as a URL whose host was blocked since.
 */
export function revertCode(
  code: Code,
  history: History,
  events: ReadonlyMap<number, CodeEvent>,
  scope: RevertScope,
  problemWith: (change: ReadyChange) => string | undefined,
): Reverted {
  const isUndone = undoneBy(scope);
  const fields = fieldsToUndo(history, isUndone);
  const isCreated = history.some((event) => event.type === 'code_created' && isUndone(event));
  if (code.status === 'deleted') {
    const isTouched = fields.length > 0 || history.some((event) => isDeletion(event) && isUndone(event));
    // A code that was created in the period and is deleted leaves nothing to undo.
    const isLeft = isTouched && !isCreated;
    return { events: [], skipped: isLeft ? [whyDeleted(history.findLast(isDeletion), isUndone)] : [] };
  }

  const reverted: Reverted = { events: [], skipped: [] };
  for (const field of fields) {
    const result = revertField(code, field, firstUndone(history, field, isUndone), events);
    if (result === undefined) continue;
    const problem = 'change' in result ? problemWith(result.change) : result.kept;
    if (problem !== undefined) reverted.skipped.push(problem);
    else if ('change' in result) reverted.events.push(...changeTo(code, result.change));
  }
  if (isCreated && code.status === 'draft')
    reverted.skipped.push('It was created in this period and is still a draft, which redirects no one: it is kept.');
  return reverted;
}

function fieldsToUndo(history: History, isUndone: IsUndone): string[] {
  const undone = history.filter(isUndone);
  // What else was changed of a code that was created in the period has no earlier value.
  if (undone.some(({ type }) => type === 'code_created')) return ['status'];
  return [...new Set(undone.flatMap(({ type }) => undoneField(type) ?? []))];
}

interface FirstUndone {
  /** The first of the last changes of the field, or if someone else made the last one, the first of all. */
  first: EventHead | undefined;
  /** The change by someone else after it. */
  later: EventHead | undefined;
}

function firstUndone(history: History, field: string, isUndone: IsUndone): FirstUndone {
  const events = history.filter(({ type }) => undoneField(type) === field);
  const lastKept = events.findLastIndex((event) => !isUndone(event));
  const afterIt = events[lastKept + 1];
  return afterIt === undefined
    ? { first: events.find(isUndone), later: events[lastKept] }
    : { first: afterIt, later: undefined };
}

/** The change that undoes the last changes of a field, or why it is kept; undefined if there is nothing to undo. */
function revertField(
  code: Code,
  field: string,
  { first, later }: FirstUndone,
  events: ReadonlyMap<number, CodeEvent>,
): { change: ReadyChange } | { kept: string } | undefined {
  const event = first && events.get(first.version);
  const change = event && undoOf(event);
  // A later change by someone else may have set the earlier value again.
  if (change === undefined || changeTo(code, change).length === 0) return undefined;
  return later === undefined
    ? { change }
    : { kept: `${field} was changed later by ${nameOf(later.actor)}: that value is kept.` };
}

const isDeletion = ({ type }: EventHead) => type === 'code_deleted';

const whyDeleted = (deletion: EventHead | undefined, isUndone: IsUndone): string =>
  deletion !== undefined && isUndone(deletion)
    ? 'It was deleted in this period, and a deleted code cannot be brought back.'
    : `It was deleted later${deletion === undefined ? '' : ` by ${nameOf(deletion.actor)}`}.`;

const nameOf = (actor: Actor): string =>
  actor === operator ? 'the operator' : actor === service ? 'the service' : actor;
