import { isDoneBy } from './actor.ts';
import type { Code } from './code.ts';
import { changeTo, type ReadyChange, undoOf } from './code-change.ts';
import type { CodeChanged, CodeEvent } from './code-events.ts';
import { type Actor, operator, type Recorded, service } from './recorded.ts';

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

type Event = Recorded<CodeEvent>;

/**
 * Undoes what an actor did to a code in a period, field by field. A field that someone else changed later keeps its value.
 *
 * @param history Events of the code without gaps, up to its newest, oldest first: at least those since the first of the period.
 * @param problemWith What is wrong now with a value that would come back, such as a URL whose host was blocked since.
 */
export function revertCode(
  code: Code,
  history: Event[],
  scope: RevertScope,
  problemWith: (change: ReadyChange) => string | undefined,
): Reverted {
  const isUndone = ({ actor, occurred_at }: Event) =>
    isDoneBy(actor, scope.actor) && occurred_at >= scope.from && occurred_at <= scope.to;
  const undone = history.filter((event) => isUndone(event) && (undoOf(event) || event.type === 'code_deleted'));
  const isCreated = undone.some(({ type }) => type === 'code_created');
  if (undone.length === 0) return { events: [], skipped: [] };
  if (code.status === 'deleted')
    // A code that was created in the period and is deleted leaves nothing to undo.
    return { events: [], skipped: isCreated ? [] : [whyDeleted(history.findLast(isDeletion), isUndone)] };

  const reverted: Reverted = { events: [], skipped: [] };
  const fields = new Set(undone.flatMap((event) => undoOf(event)?.field ?? []));
  // What else was changed of a code that was created in the period has no earlier value.
  for (const field of isCreated ? ['status'] : fields) {
    const ofField = history.filter((event) => undoOf(event)?.field === field);
    const result = revertField(code, ofField, isUndone);
    if (result === undefined) continue;
    const problem = 'change' in result ? problemWith(result.change) : result.kept;
    if (problem !== undefined) reverted.skipped.push(problem);
    else if ('change' in result) reverted.events.push(...changeTo(code, result.change));
  }
  if (isCreated && code.status === 'draft')
    reverted.skipped.push('It was created in this period and is still a draft, which redirects no one: it is kept.');
  return reverted;
}

/** The change that undoes the last changes of a field, or why it is kept; undefined if there is nothing to undo. */
function revertField(
  code: Code,
  events: Event[],
  isUndone: (event: Event) => boolean,
): { change: ReadyChange } | { kept: string } | undefined {
  const lastKept = events.findLastIndex((event) => !isUndone(event));
  const later = events[lastKept];
  const first = events[lastKept + 1] ?? events.find(isUndone);
  const undo = first && undoOf(first);
  // A later change by someone else may have set the earlier value again.
  if (undo === undefined || changeTo(code, undo.change).length === 0) return undefined;
  if (first === events[lastKept + 1] || later === undefined) return { change: undo.change };
  return { kept: `${undo.field} was changed later by ${nameOf(later.actor)}: that value is kept.` };
}

const isDeletion = ({ type }: Event) => type === 'code_deleted';

const whyDeleted = (deletion: Event | undefined, isUndone: (event: Event) => boolean): string =>
  deletion !== undefined && isUndone(deletion)
    ? 'It was deleted in this period, and a deleted code cannot be brought back.'
    : `It was deleted later${deletion === undefined ? '' : ` by ${nameOf(deletion.actor)}`}.`;

const nameOf = (actor: Actor): string =>
  actor === operator ? 'the operator' : actor === service ? 'the service' : actor;
