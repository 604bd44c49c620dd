import type { Static, TSchema } from '@sinclair/typebox';
import { TypeCompiler, type ValueError, ValueErrorType } from '@sinclair/typebox/compiler';
import { type Fault, invalid } from '../lib/errors.ts';

/** What a value must be, in words made from its schema. */
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

/** A JSON pointer as people write it: `/style/dotsType` → `style.dotsType`. */
const fieldOf = (pointer: string) =>
  pointer
    .slice(1)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.');

function faultOf({ type, path, schema }: ValueError, whole: string): Fault {
  const field = fieldOf(path);
  switch (type) {
    case ValueErrorType.ObjectRequiredProperty:
      return { field, message: `${field} is required.` };
    case ValueErrorType.ObjectAdditionalProperties:
      return { field, message: `${field} is not a field that can be given here.` };
    case ValueErrorType.ObjectMinProperties:
      return { field: whole, message: `The ${whole} must name at least one field to change.` };
    default:
      return field === ''
        ? { field: whole, message: `The ${whole} must be ${expectation(schema)}.` }
        : { field, message: `${field} must be ${expectation(schema)}.` };
  }
}

/** More than a body has fields: one that is made of unknown ones is not answered with a list of them all. */
const mostFaults = 20;

/** A check that answers with every fault, the first of each field. `whole` is what the value as such is called. */
export function faultsBy(schema: TSchema, whole: 'body' | 'query'): (value: unknown) => Fault[] {
  const check = TypeCompiler.Compile(schema);
  return (value) => {
    if (check.Check(value)) return [];
    const faults = new Map<string, Fault>();
    for (const error of check.Errors(value)) {
      const fault = faultOf(error, whole);
      if (!faults.has(fault.field)) faults.set(fault.field, fault);
      if (faults.size === mostFaults) break;
    }
    return [...faults.values()];
  };
}

/** A check that throws a 400, and otherwise answers with the value, typed. */
export function validator<S extends TSchema>(schema: S, whole: 'body' | 'query'): (value: unknown) => Static<S> {
  const faults = faultsBy(schema, whole);
  return (value) => {
    const [first, ...rest] = faults(value);
    if (first !== undefined) throw invalid([first, ...rest]);
    return value as Static<S>;
  };
}

/** The query alone: the rest of the address holds whatever the client sent as `Host`, which may be none that exists. */
const searchOf = (url: string) => new URLSearchParams(url.includes('?') ? url.slice(url.indexOf('?')) : '');

/** Query parameters of an address as their schema means them: integers as numbers, defaults filled in. */
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
