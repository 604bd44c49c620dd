/** A JSON Schema with the keywords that our OpenAPI document uses. */
export type JsonSchema = Record<string, unknown>;

type Check = (limit: never, value: never, schema: JsonSchema, where: string) => string[];

const annotations = new Set(['description', 'examples', 'example', 'default', 'title']);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const types: Record<string, (value: unknown) => boolean> = {
  string: (value) => typeof value === 'string',
  integer: Number.isInteger,
  number: Number.isFinite,
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: Array.isArray,
  object: isObject,
};

const formats: Record<string, RegExp> = {
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  date: /^\d{4}-\d\d-\d\d$/,
  // ASCII only, unlike an IRI.
  uri: /^[a-z][a-z0-9+.-]*:[!-~]+$/i,
  iri: /^[a-z][a-z0-9+.-]*:\S+$/i,
};

const violation = (wrong: boolean, where: string, what: string) => (wrong ? [`${where} ${what}`] : []);

/** An unknown keyword fails the test, because the document must not contain what is not checked. */
const keywords: Record<string, Check> = {
  type: (type: string | string[], value, _, where) =>
    violation(
      ![type].flat().some((name) => types[name]?.(value)),
      where,
      `is not of type ${[type].flat().join(' or ')}`,
    ),
  enum: (values: unknown[], value, _, where) =>
    violation(!values.includes(value), where, `is not one of ${values.join(', ')}`),
  const: (wanted: unknown, value, _, where) => violation(value !== wanted, where, `is not ${wanted}`),
  format: (format: string, value: unknown, _, where) =>
    violation(typeof value === 'string' && formats[format]?.test(value) !== true, where, `is not a ${format}`),
  pattern: (pattern: string, value: unknown, _, where) =>
    violation(typeof value === 'string' && !new RegExp(pattern, 'u').test(value), where, `does not match ${pattern}`),
  minimum: (min: number, value: number, _, where) => violation(value < min, where, `is less than ${min}`),
  maximum: (max: number, value: number, _, where) => violation(value > max, where, `is more than ${max}`),
  minLength: (min: number, value: string, _, where) => violation(value.length < min, where, `is too short`),
  maxLength: (max: number, value: string, _, where) => violation(value.length > max, where, `is too long`),
  minItems: (min: number, value: unknown, _, where) =>
    violation(Array.isArray(value) && value.length < min, where, 'has too few items'),
  maxItems: (max: number, value: unknown, _, where) =>
    violation(Array.isArray(value) && value.length > max, where, 'has too many items'),
  minProperties: (min: number, value, _, where) =>
    violation(isObject(value) && Object.keys(value).length < min, where, 'has too few properties'),
  required: (names: string[], value, _, where) =>
    isObject(value) ? names.flatMap((name) => violation(!Object.hasOwn(value, name), where, `lacks ${name}`)) : [],
  properties: (properties: Record<string, JsonSchema>, value, _, where) =>
    isObject(value)
      ? Object.entries(properties).flatMap(([name, schema]) =>
          Object.hasOwn(value, name) ? violationsOf(schema, value[name], `${where}.${name}`) : [],
        )
      : [],
  additionalProperties: (allowed: boolean | JsonSchema, value, schema, where) => {
    const known = (schema['properties'] ?? {}) as object;
    const others = isObject(value) ? Object.entries(value).filter(([name]) => !Object.hasOwn(known, name)) : [];
    return others.flatMap(([name, other]) =>
      typeof allowed === 'boolean'
        ? violation(!allowed, where, `has an undocumented field ${name}`)
        : violationsOf(allowed, other, `${where}.${name}`),
    );
  },
  items: (schema: JsonSchema, value: unknown, _, where) =>
    Array.isArray(value) ? value.flatMap((item, i) => violationsOf(schema, item, `${where}[${i}]`)) : [],
  anyOf: (schemas: JsonSchema[], value, _, where) => {
    const violations = schemas.map((schema) => violationsOf(schema, value, where));
    return violations.some((of) => of.length === 0) ? [] : violations.flat();
  },
};

/** All violations of `schema` by `value`. */
export function violationsOf(schema: JsonSchema, value: unknown, where = 'body'): string[] {
  return Object.entries(schema).flatMap(([keyword, limit]) => {
    if (annotations.has(keyword) || keyword.startsWith('x-')) return [];
    const check = keywords[keyword];
    if (check === undefined)
      throw new Error(`${where}: the schema has the keyword ${keyword}, which test/support cannot check`);
    return check(limit as never, value as never, schema, where);
  });
}
