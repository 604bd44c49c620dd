import { Kind, type TSchema, TypeRegistry } from '@sinclair/typebox';

interface TOneOf<T extends string> extends TSchema {
  [Kind]: 'OneOf';
  static: T;
  enum: T[];
}

TypeRegistry.Set<TOneOf<string>>('OneOf', (schema, value) => (schema.enum as unknown[]).includes(value));

/** A string enum that is written as JSON Schema `enum`; TypeBox's own unions become `anyOf`. */
export const oneOf = <const T extends string>(values: readonly T[], options: Record<string, unknown> = {}): TOneOf<T> =>
  ({ ...options, [Kind]: 'OneOf', type: 'string', enum: [...values] }) as unknown as TOneOf<T>;
