import type { Static, TSchema } from '@sinclair/typebox';
import { TypeCompiler, type ValueError, ValueErrorType } from '@sinclair/typebox/compiler';
import { type FieldError, invalid } from '../lib/errors.ts';

/** Describes what a value must be, from its schema. */
function expectation(schema: TSchema): string {
  if (typeof schema['x-expected'] === 'string') return schema['x-expected'];
  if (Array.isArray(schema['enum'])) return `one of ${schema['enum'].join(', ')}`;
  const { minimum, maximum, minItems, maxItems } = schema;
  switch (schema['type']) {
    case 'integer':
      return maximum === undefined ? `an integer of at least ${minimum}` : `an integer from ${minimum} to ${maximum}`;
    case 'array':
      return `an array of ${minItems} to ${maxItems} items`;
    case 'boolean':
      return 'true or false';
    case 'object':
      return 'an object';
    default:
      return `a ${schema['type']}`;
  }
}

/** Converts a JSON pointer to a field name: `/style/dotsType` → `style.dotsType`. */
const fieldOf = (pointer: string) =>
  pointer
    .slice(1)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.');

function toFieldError({ type, path, schema }: ValueError, subject: string): FieldError {
  const field = fieldOf(path);
  switch (type) {
    case ValueErrorType.ObjectRequiredProperty:
      return { field, message: `${field} is required.` };
    case ValueErrorType.ObjectAdditionalProperties:
      return { field, message: `${field} is not an accepted field: remove it.` };
    case ValueErrorType.ObjectMinProperties:
      return { field: subject, message: `The ${subject} must contain at least one field to change.` };
    default:
      return field === ''
        ? { field: subject, message: `The ${subject} must be ${expectation(schema)}.` }
        : { field, message: `${field} must be ${expectation(schema)}.` };
  }
}

/** More than any valid body has fields; keeps the response short for a body with thousands of unknown fields. */
const maxErrors = 20;

/** Returns a function that finds the first error of every field. `subject` is what messages call the whole value. */
export function errorFinder(schema: TSchema, subject: 'body' | 'query'): (value: unknown) => FieldError[] {
  const check = TypeCompiler.Compile(schema);
  return (value) => {
    if (check.Check(value)) return [];
    const errors = new Map<string, FieldError>();
    for (const error of check.Errors(value)) {
      const fieldError = toFieldError(error, subject);
      if (!errors.has(fieldError.field)) errors.set(fieldError.field, fieldError);
      if (errors.size === maxErrors) break;
    }
    return [...errors.values()];
  };
}

/** Returns a function that throws 400 for an invalid value, and otherwise returns it with its type. */
export function validator<S extends TSchema>(schema: S, subject: 'body' | 'query'): (value: unknown) => Static<S> {
  const findErrors = errorFinder(schema, subject);
  return (value) => {
    const [first, ...rest] = findErrors(value);
    if (first !== undefined) throw invalid([first, ...rest]);
    return value as Static<S>;
  };
}

/** Parses the query alone: the URL contains the `Host` header of the client, which may not be a valid host. */
const searchOf = (url: string) => new URLSearchParams(url.includes('?') ? url.slice(url.indexOf('?')) : '');

/** Returns a function that reads query parameters by their schema: integers as numbers, defaults filled in. */
export function queryReader<S extends TSchema>(schema: S): (url: string) => Static<S> {
  const check = validator(schema, 'query');
  const properties: Record<string, TSchema> = schema['properties'] ?? {};
  return (url) => {
    const search = searchOf(url);
    const query: Record<string, unknown> = {};
    for (const [name, property] of Object.entries(properties)) {
      const [text, ...more] = search.getAll(name);
      if (more.length > 0) throw invalid([{ field: name, message: `${name} must be given only once.` }]);
      if (text === undefined) {
        if (property['default'] !== undefined) query[name] = property['default'];
      } else {
        query[name] = property['type'] === 'integer' && /^\d{1,16}$/.test(text) ? Number(text) : text;
      }
    }
    return check(query);
  };
}
