import { inTime } from './in-time.ts';

interface Waiting<Question, Answer> {
  question: Question;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

const tooLong = () => new Error('the round takes long');

/**
 * Asks many questions in one: all that come while a round is under way are the next. Every answer is from a round that
 * began after its question came, so it knows of all that had happened by then. A round that takes long, as on a
 * connection that is dead and does not say so, does not hold up those behind it.
 */
export function gathered<Question, Answer>(
  ask: (questions: Question[]) => Promise<Answer[]>,
  { most = 100, patienceMs = 1_000 } = {},
): (question: Question) => Promise<Answer> {
  const waiting: Waiting<Question, Answer>[] = [];
  let busy = false;

  async function answer(round: Waiting<Question, Answer>[]): Promise<void> {
    try {
      const answers = await ask(round.map(({ question }) => question));
      for (const [i, { resolve }] of round.entries()) resolve(answers[i] as Answer);
    } catch (error) {
      for (const { reject } of round) reject(error);
    }
  }

  async function askAll(): Promise<void> {
    while (waiting.length > 0) await inTime(answer(waiting.splice(0, most)), patienceMs, tooLong).catch(() => {});
    busy = false;
  }

  return (question) =>
    new Promise((resolve, reject) => {
      waiting.push({ question, resolve, reject });
      if (busy) return;
      busy = true;
      queueMicrotask(askAll);
    });
}
