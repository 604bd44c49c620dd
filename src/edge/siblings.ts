import type { Change } from '../../events/entry.ts';
import { withTimeout } from '../lib/with-timeout.ts';

/**
 * Several processes on one port are one service to whoever uses it: after the answer to a change, none of them may serve
 * the old state. So the one that took the change waits until the others have heard of it.
 */

/** What processes ask of each other, and how they answer. */
export type SiblingMessage =
  | { kind: 'changed'; id: number; entries: Change[] }
  | { kind: 'metrics'; id: number }
  | { kind: 'answer'; id: number; metrics?: object }
  | { kind: 'stop' };

type Question = { kind: 'changed'; entries: Change[] } | { kind: 'metrics' };
type Answer = Extract<SiblingMessage, { kind: 'answer' }>;

/** A sibling that does not answer by then is not waited for: it may have just died. */
const answerTimeoutMs = 300;

export interface Sibling {
  send(message: SiblingMessage): void;
}

export interface Asking {
  /** Asks all of them, and resolves with the answers of those that answered. */
  ask(question: Question, siblings: Iterable<Sibling>): Promise<Answer[]>;
  /** To be told of every answer that arrives. */
  answered(answer: Answer): void;
}

export function createAsking(): Asking {
  let last = 0;
  const open = new Map<number, (answer: Answer) => void>();

  async function askOne(question: Question, sibling: Sibling): Promise<Answer | undefined> {
    const id = ++last;
    const answer = Promise.withResolvers<Answer>();
    open.set(id, answer.resolve);
    try {
      sibling.send({ ...question, id });
      return await withTimeout(answer.promise, answerTimeoutMs, () => undefined);
    } catch {
      // The process has just died; the one that replaces it reads everything from Postgres.
      return undefined;
    } finally {
      open.delete(id);
    }
  }

  return {
    async ask(question, siblings) {
      const answers = await Promise.all([...siblings].map((sibling) => askOne(question, sibling)));
      return answers.filter((answer) => answer !== undefined);
    },
    answered: (answer) => open.get(answer.id)?.(answer),
  };
}

/** Messages between processes carry times as text. */
export const revived = (entries: Change[]): Change[] =>
  entries.map((entry) => ({ ...entry, occurred_at: new Date(entry.occurred_at) }));
