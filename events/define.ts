import type { Static, TSchema } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';

/** Data of an older schema, as it was written then. */
type OldData = Record<string, unknown>;

export interface EventDefinition<S extends TSchema = TSchema> {
  /** The number of today's shape. Older ones stay in the log for ever and are brought up when read. */
  schema: number;
  matches(data: unknown): data is Static<S>;
  /** What does not match, as `field: reason`, for the developer who built it. */
  mismatch(data: unknown): string;
  /** From each older number to the next. */
  upcasters: Record<number, (old: OldData) => OldData>;
}

/**
 * One type of event: today's shape of its data, and how each older one becomes the next.
 *
 * @example defineEvent(2, Type.Object({ to: Type.String() }), { 1: (old) => ({ to: old.target }) })
 */
export function defineEvent<S extends TSchema>(
  schema: number,
  shape: S,
  upcasters: EventDefinition['upcasters'] = {},
): EventDefinition<S> {
  const check = TypeCompiler.Compile(shape);
  return {
    schema,
    upcasters,
    matches: (data): data is Static<S> => check.Check(data),
    mismatch: (data) => [...check.Errors(data)].map((e) => `${e.path || 'data'}: ${e.message}`).join(', '),
  };
}

/** The union of a vocabulary's events: `{ type, data }` for each entry. */
export type EventOf<V extends Record<string, EventDefinition>> = {
  [T in keyof V & string]: { type: T; data: V[T] extends EventDefinition<infer S> ? Static<S> : never };
}[keyof V & string];
