import type { Static, TSchema } from '@sinclair/typebox';
import { type TypeCheck, TypeCompiler, type ValueError, ValueErrorType } from '@sinclair/typebox/compiler';
import { type FieldError, invalid } from '../../lib/errors.ts';
import { nearest } from '../../lib/nearest.ts';

/** Describes what a value must be, from its schema. */
function expectation(schema: TSchema): string {
  if (typeof schema['x-expected'] === 'string') return schema['x-expected'];
  if (Array.isArray(schema['enum'])) return `one of ${schema['enum'].join(', ')}`;
  if (Array.isArray(schema['anyOf'])) return schema['anyOf'].map(expectation).join(' or ');
  const { minimum, maximum, minItems, maxItems } = schema;
  switch (schema['type']) {
    case 'integer':
      return maximum === undefined ? `an integer of at least ${minimum}` : `an integer from ${minimum} to ${maximum}`;
    case 'number':
      return `a number from ${minimum} to ${maximum}`;
    case 'array':
      return `an array of ${minItems} to ${maxItems} items`;
    case 'boolean':
      return 'true or false';
    case 'object':
      return 'an object';
    case 'null':
      return 'null';
    default:
      return `a ${schema['type']}`;
  }
}

/** Converts a JSON pointer to a field name: `/rules/2/name` → `rules[2].name`. */
const fieldOf = (pointer: string) =>
  pointer
    .slice(1)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.')
    .replaceAll(/\.(\d+)(?=\.|$)/g, '[$1]');

function toFieldError({ type, path, schema }: ValueError, subject: string): FieldError {
  const field = fieldOf(path);
  switch (type) {
    case ValueErrorType.ObjectRequiredProperty:
      return { field, message: `${field} is required.` };
    case ValueErrorType.ObjectAdditionalProperties:
      return { field, message: unknownField(path, schema) };
    case ValueErrorType.ObjectMinProperties:
      return { field: subject, message: `The ${subject} must contain at least one field to change.` };
    default:
      return field === ''
        ? { field: subject, message: `The ${subject} must be ${expectation(schema)}.` }
        : { field, message: `${field} must be ${expectation(schema)}.` };
  }
}

/** `schema` describes the object with the field. Its `x-refused` explains fields that exist but are not accepted here. */
function unknownField(pointer: string, schema: TSchema): string {
  const field = fieldOf(pointer);
  const name = fieldOf(pointer.slice(pointer.lastIndexOf('/')));
  const parent = field.slice(0, field.length - name.length);
  const refused: Record<string, string> = schema['x-refused'] ?? {};
  if (Object.hasOwn(refused, name)) return `${field} ${refused[name]}.`;
  const near = nearest(name, Object.keys(schema['properties'] ?? {}));
  return `${field} is not an accepted field: ${near === undefined ? 'remove it.' : `did you mean ${parent}${near}?`}`;
}

/** More than any valid body has fields; keeps the response short for a body with thousands of unknown fields. */
const maxErrors = 20;

const checks = new WeakMap<TSchema, TypeCheck<TSchema>>();

/** Compiled at the first use: a start that compiled the schemas of all operations, which two paths serve, would take 0.1 s longer. */
function checkOf(schema: TSchema): TypeCheck<TSchema> {
  const check = checks.get(schema) ?? TypeCompiler.Compile(schema);
  checks.set(schema, check);
  return check;
}

/** What messages call the whole value. */
type Subject = 'body' | 'query' | 'arguments';

/** Returns a function that finds the first error of every field. */
export function errorFinder(schema: TSchema, subject: Subject): (value: unknown) => FieldError[] {
  return (value) => {
    const check = checkOf(schema);
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
export function validator<S extends TSchema>(schema: S, subject: Subject): (value: unknown) => Static<S> {
  const findErrors = errorFinder(schema, subject);
  return (value) => {
    const [first, ...rest] = findErrors(value);
    if (first !== undefined) throw invalid([first, ...rest]);
    return value as Static<S>;
  };
}

/** Parses the query alone: the URL contains the `Host` header of the client, which may not be a valid host. */
const searchOf = (url: string) => new URLSearchParams(url.includes('?') ? url.slice(url.indexOf('?')) : '');

/** What a query may have beside the parameters of the schema: these names, or anything. */
export type OtherParameters = readonly string[] | 'any';

/** The form of a number in a query; any other text stays one, and fails the validation. */
const numberPatterns: Record<string, RegExp> = { integer: /^\d{1,16}$/, number: /^\d{1,9}(\.\d{1,6})?$/ };

/**
 * Returns a function that reads query parameters by their schema: numbers and booleans as such, parameters of an array type as
 * lists, defaults filled in. Throws 400 with every parameter that is unknown, repeated, invalid or, by the `x-excludes` of its schema,
 * combined with another.
 */
export function queryReader<S extends TSchema>(schema: S, others: OtherParameters): (url: string) => Static<S> {
  const findErrors = errorFinder(schema, 'query');
  const properties: Record<string, TSchema> = schema['properties'] ?? {};
  return (url) => {
    const search = searchOf(url);
    const errors = others === 'any' ? [] : unknownParameters(search, Object.keys(properties), others);
    const query: Record<string, unknown> = {};
    for (const [name, property] of Object.entries(properties)) {
      const texts = search.getAll(name);
      if (property['type'] === 'array') {
        if (texts.length > 0) query[name] = texts;
        continue;
      }
      const [text, ...more] = texts;
      const excluded = property['x-excludes'];
      if (text !== undefined && typeof excluded === 'string' && search.has(excluded))
        errors.push({ field: name, message: `${name} cannot be combined with ${excluded}.` });
      if (more.length > 0) errors.push({ field: name, message: `${name} must be given only once.` });
      if (text === undefined) {
        if (property['default'] !== undefined) query[name] = property['default'];
      } else {
        query[name] = readParameter(property, text);
      }
    }
    const repeated = new Set(errors.map(({ field }) => field));
    const [first, ...rest] = [...errors, ...findErrors(query).filter(({ field }) => !repeated.has(field))];
    if (first !== undefined) throw invalid([first, ...rest]);
    return query as Static<S>;
  };
}

function readParameter({ type }: TSchema, text: string): unknown {
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return numberPatterns[type]?.test(text) ? Number(text) : text;
}

function unknownParameters(search: URLSearchParams, known: string[], others: readonly string[]): FieldError[] {
  const unknown = [...new Set(search.keys())].filter((name) => !known.includes(name) && !others.includes(name));
  return unknown.slice(0, maxErrors).map((field) => {
    const near = nearest(field, known);
    const accepted = known.length === 0 ? 'it accepts none' : `it accepts ${known.join(', ')}`;
    const hint = near === undefined ? `${accepted}.` : `did you mean ${near}?`;
    return { field, message: `${field} is not a query parameter of this operation: ${hint}` };
  });
}
