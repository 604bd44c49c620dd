import type { Code } from '../../events/code.ts';
import type { CodeChanged, CodeEvent } from '../../events/code-events.ts';
import type { Actor, Recorded } from '../../events/recorded.ts';
import { writeState } from '../../projections/state.ts';
import type { Sql, Transaction } from '../lib/sql.ts';
import { appendAndCommit, prepare } from '../log/append.ts';
import { isLimitSet } from './change.ts';
import { addUncounted, countUsed, lockLimits } from './limits.ts';

/** One transaction holds the append lock while it inserts its events. */
export const maxEventsPerTransaction = 50;
const maxCharactersPerTransaction = 262_144;

/** A code and the events that change it; none if it stays as it is. */
export interface CodePlan {
  code: Code;
  events: CodeChanged[];
}

/** The first of these plans, as many as one transaction takes, at least one. */
export function firstOf<P extends CodePlan>(plans: P[]): P[] {
  let count = 0;
  let characters = 0;
  const end = plans.findIndex(({ events }, i) => {
    count += events.length;
    characters += JSON.stringify(events).length;
    return i > 0 && (count > maxEventsPerTransaction || characters > maxCharactersPerTransaction);
  });
  return end === -1 ? plans : plans.slice(0, end);
}

/** Stores the changes of codes in one transaction; throws `VersionTaken` if another request has changed one of them. */
export async function store(
  sql: Sql,
  plans: CodePlan[],
  by: { actor: Actor; now: Date },
): Promise<Recorded<CodeEvent>[]> {
  const changed = plans.filter(({ events }) => events.length > 0);
  return changed.length === 0 ? [] : sql.begin((tx) => storeChanged(tx, changed, by));
}

async function storeChanged(
  tx: Transaction,
  changed: CodePlan[],
  by: { actor: Actor; now: Date },
): Promise<Recorded<CodeEvent>[]> {
  const pending = prepare<CodeChanged>(
    changed.flatMap(({ code, events }) =>
      events.map((event, i) => ({ stream: code.id, version: code.version + 1 + i, event })),
    ),
    by,
  );
  const limited = changed.flatMap(({ code, events }) => (events.some(isLimitSet) ? [code.id] : []));
  if (limited.length > 0) await lockLimits(tx, limited);
  await writeState(tx, { codes: changed.map(({ code }) => code) }, pending);
  const countedTo = limited.length > 0 ? await countUsed(tx, limited) : undefined;
  return appendAndCommit(tx, pending, () => (countedTo === undefined ? [] : [addUncounted(tx, limited, countedTo)]));
}
