import { type Static, type TObject, type TSchema, Type as t } from '@sinclair/typebox';
import type { Scope } from '../../../events/scopes.ts';
import type { Caller } from '../../accounts/admission.ts';
import { invalid } from '../../lib/errors.ts';
import type { OperationId } from '../http/access.ts';
import type { Invoke, Operations } from './invoke.ts';

/** What a client gets for a call: values, and files that the values cannot contain. */
export interface ToolResponse {
  value: Record<string, unknown>;
  image?: { bytes: Uint8Array; type: string };
  file?: { bytes: Uint8Array; type: string; uri: string };
}

export interface ToolCall<I extends TObject> {
  input: Static<I>;
  invoke: Invoke;
  caller: Caller;
  now: Date;
}

/** One tool: what a model reads about it, and what it does by calling operations of the API. */
export interface Tool<I extends TObject = TObject> {
  name: string;
  title: string;
  /** For a model that has never seen the service. */
  description: string;
  input: I;
  scope: Scope;
  /** What it does: clients ask their user before they change or delete. */
  effect: 'reads' | 'changes' | 'deletes';
  run(call: ToolCall<I>): Promise<ToolResponse>;
}

/** Infers the types of one tool from its schema, and erases them so that one list can hold all tools. */
export const tool = <I extends TObject>(definition: Tool<I>): Tool => definition as unknown as Tool;

/** A field of the body or query of an operation, so that a tool describes and checks it as the operation does. */
export function fieldOf(operations: Operations, id: OperationId, part: 'query' | 'body', name: string): TSchema {
  const field = operations.get(id)?.[part]?.['properties'][name];
  if (field === undefined) throw new Error(`${id} has no ${name} in its ${part}`);
  return field;
}

export const fieldsOf = (operations: Operations, id: OperationId, part: 'query' | 'body', names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, fieldOf(operations, id, part, name)]));

/** The whole schema of the body of an operation. */
export function bodyOf(operations: Operations, id: OperationId): TSchema {
  const body = operations.get(id)?.body;
  if (body === undefined) throw new Error(`${id} has no body`);
  return body;
}

export const qrId = t.String({
  maxLength: 50,
  description: 'Id of the code, qr_…, as find_codes lists it.',
  examples: ['qr_0VMNcq2hE3kx0dTtWq8LbY'],
  'x-expected': 'the id of a code, qr_…',
});

/** Throws 400 unless exactly one of these arguments is given. */
export function requireOne(input: Record<string, unknown>, names: readonly [string, string]): void {
  if (names.filter((name) => input[name] !== undefined).length !== 1)
    throw invalid([{ field: names[0], message: `Either ${names.join(' or ')} is required, and not both.` }]);
}

/** The arguments of `undo` that undo one change: the caller made it at this moment. */
export const undoAt = (time: string) => ({ from: time, to: time });
