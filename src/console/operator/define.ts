import { type Static, type TObject, type TSchema, Type as t } from '@sinclair/typebox';
import { problemWithName } from '../../../events/fields.ts';
import { type Call, type Operation, operation } from '../../api/http/operation.ts';
import { invalid } from '../../lib/errors.ts';

type Definition<Q extends TObject, B extends TSchema> = Pick<
  Operation<Q, B>,
  'operationId' | 'method' | 'path' | 'summary' | 'query' | 'body' | 'params' | 'answerWithinMs'
> & { schema: TSchema; status?: 200 | 201; handle(call: Call<Q, B>): ReturnType<Operation<Q, B>['handle']> };

/** An operation of the operator's console. Its path is mounted below /console/api/operator instead of /v1. */
export const operatorOperation = <Q extends TObject, B extends TSchema>({
  schema,
  status = 200,
  ...definition
}: Definition<Q, B>): Operation =>
  operation({
    ...definition,
    tag: 'Account',
    description: 'For operators of the service only.',
    success: { status, description: definition.summary, schema },
    errors: [],
  } as Operation<Q, B>);

const search = t.Optional(t.String({ maxLength: 2_048 }));
/** What `next` of the page before was. */
const after = t.Optional(t.String({ minLength: 1, maxLength: 300 }));

export const listQuery = { search, after };

export const Reason = t.Object(
  { reason: t.String({ minLength: 1, maxLength: 1_000, 'x-expected': 'a text' }) },
  { additionalProperties: false },
);

/** The reason that the owner of the disabled code or account reads, as the commands accept it. */
export function reasonOf({ reason }: Static<typeof Reason>): string {
  const problem = problemWithName(reason);
  if (problem !== undefined) throw invalid([{ field: 'reason', message: `reason ${problem}.` }]);
  return reason.trim();
}

export const presentDisabled = (reason: string | null, at: Date | null) =>
  reason === null || at === null ? null : { reason, at: at.toISOString() };

export const isoOf = (time: Date | null) => time?.toISOString() ?? null;
