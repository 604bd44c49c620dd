import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { oneOf } from '../../events/one-of.ts';
import type { AlertTexts } from '../texts/texts.ts';

const kinds = ['circles', 'missing', 'failing', 'unknownHost', 'noAnswer', 'unreachable'] as const;

const schema = Type.Object({
  kind: oneOf(kinds),
  host: Type.String(),
  /** Of the answer, if there was one. */
  status: Type.Optional(Type.Integer()),
  /** What happened to the connection, as a sentence in English. */
  detail: Type.Optional(Type.String()),
});

/** Why a website is down. It is stored once for all alerts of an account, which may have different languages. */
export type Problem = Static<typeof schema>;

/** As `destination_checks` has it. */
export const storedProblem = (problem: Problem): string => JSON.stringify(problem);

/** A stored problem as a sentence. Earlier versions have stored the sentence itself, in English. */
export function readProblem(stored: string, texts: AlertTexts['problems']): string {
  const problem: unknown = stored.startsWith('{') ? JSON.parse(stored) : stored;
  if (!Value.Check(schema, problem)) return stored;
  const { kind, host, status = 0, detail = '' } = problem;
  if (kind === 'missing' || kind === 'failing') return texts[kind](host, status);
  return kind === 'unreachable' ? texts.unreachable(host, detail) : texts[kind](host);
}
