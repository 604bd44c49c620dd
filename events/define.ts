import type { Static, TSchema } from '@sinclair/typebox';
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler';
import './formats.ts';

/** Event data of an older schema. */
type OldData = Record<string, unknown>;

export interface EventDefinition<S extends TSchema = TSchema> {
  /** The current schema number. Events of older schemas stay in the log and are upcast when read. */
  schema: number;
  matches(data: unknown): data is Static<S>;
  /** The mismatches as `field: reason`, for developers. */
  mismatch(data: unknown): string;
  /** From each older schema number to the next. */
  upcasters: Record<number, (old: OldData) => OldData>;
}

/**
 * Defines one event type: the current schema of its data, and upcasters from each older schema to the next.
 *
 * @example defineEvent(2, Type.Object({ to: Type.String() }), { 1: (old) => ({ to: old.target }) })
 */
export function defineEvent<S extends TSchema>(
  schema: number,
  shape: S,
  upcasters: EventDefinition['upcasters'] = {},
): EventDefinition<S> {
  // Compiled at the first use, because a process uses few of the types.
  let compiled: TypeCheck<S> | undefined;
  const check = () => (compiled ??= TypeCompiler.Compile(shape));
  return {
    schema,
    upcasters,
    matches: (data): data is Static<S> => check().Check(data),
    mismatch: (data) => [...check().Errors(data)].map((e) => `${e.path || 'data'}: ${e.message}`).join(', '),
  };
}

/** The union of all events of a catalogue: `{ type, data }` for each entry. */
export type EventOf<V extends Record<string, EventDefinition>> = {
  [T in keyof V & string]: { type: T; data: V[T] extends EventDefinition<infer S> ? Static<S> : never };
}[keyof V & string];
