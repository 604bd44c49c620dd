import fc from 'fast-check';
import { png, svg } from '../logos/images.ts';
import type { OperationObject } from '../support/documented.ts';
import type { JsonSchema } from '../support/json-schema.ts';
import { mutatedText } from '../support/mutate.ts';

/** Injection payloads for SQL, ClickHouse, markup, spreadsheets, headers, logs and JavaScript. */
export const payloads = [
  "'; DROP TABLE codes; --",
  "' OR '1'='1",
  '1); SELECT pg_sleep(9); --',
  '\\x27 || chr(39)',
  '{code:String}',
  "') UNION ALL SELECT * FROM system.tables --",
  '$1',
  '#{7*7}{{7*7}}',
  '%s%n%x',
  '{"$ne":null}',
  '"><script>alert(1)</script>',
  "' onload='alert(1)",
  ']]></svg><script/>',
  '<!ENTITY x SYSTEM "file:///etc/passwd">',
  '&lt;b&gt;&#x27;',
  '=cmd|calc!A1',
  '@SUM(1+1)',
  '+1-1',
  'a\r\nSet-Cookie: x=1',
  'a\nX-Injected: 1',
  '%0d%0aX-Injected:%201',
  '\u0000',
  '\u001b[31m',
  '\u2028{"level":"error"}',
  '\u202etxt.exe',
  '../../etc/passwd',
  '__proto__',
  'constructor',
  'toString',
  '\ud800',
  '\ufffe\uffff',
  '',
  ' ',
  'x'.repeat(3_000),
] as const;

const oddNumbers = [
  ...[0, -0, -1, 1.5, 1e21, 1e308, 5e-324, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER],
  ...[2 ** 31, 2 ** 32, 2 ** 63, 2 ** 64],
];

export const text = fc.oneof(fc.constantFrom(...payloads), fc.string({ unit: 'binary', maxLength: 20 }));

/** Any JSON value, including objects with names of inherited properties. */
export const anything: fc.Arbitrary<unknown> = fc.oneof(
  text,
  fc.constantFrom(...oddNumbers, null, true, false, [], {}),
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom('__proto__', 'constructor', 'prototype', 'length').map((name) => own({ [name]: { polluted: true } })),
);

/** Parsed from JSON, so that `__proto__` becomes an own property. */
function own(fields: Record<string, unknown>): Record<string, unknown> {
  return JSON.parse(
    `{${Object.keys(fields)
      .map((name) => `${JSON.stringify(name)}:{"polluted":true}`)
      .join()}}`,
  );
}

/** A value of a query parameter or header: mostly valid by its schema, sometimes not. */
const parameterValue = ({ enum: known, type, minimum = 1, maximum = 100 }: JsonSchema): fc.Arbitrary<string> => {
  const valid =
    known !== undefined
      ? fc.constantFrom(...(known as string[]))
      : type === 'integer'
        ? fc.constantFrom(minimum, maximum, 1).map(String)
        : fc.constantFrom('2026-03-01', '2026-03-01T00:00:00Z', '1900-01-01', '2299-12-31', 'abc');
  const invalid = fc.oneof(
    text,
    fc.constantFrom('0', '-1', '1e3', '9007199254740993', '0x10', '１', '1.0', 'NaN', '2026-02-30', '9999-99-99'),
  );
  return fc.oneof({ weight: 5, arbitrary: valid }, { weight: 1, arbitrary: invalid });
};

/** A value that is valid by its schema, with realistic strings. */
function validValue(schema: JsonSchema, name: string): fc.Arbitrary<unknown> {
  const {
    type,
    enum: known,
    properties = {},
    required = [],
    items,
  } = schema as JsonSchema & {
    properties?: Record<string, JsonSchema>;
    required?: string[];
  };
  if (known !== undefined) return fc.constantFrom(...(known as unknown[]));
  if (type === 'boolean') return fc.boolean();
  if (type === 'array') return fc.array(validValue(items as JsonSchema, name), { minLength: 1, maxLength: 3 });
  if (type === 'object')
    return fc.record(
      Object.fromEntries(Object.entries(properties).map(([field, of]) => [field, validValue(of, field)])),
      {
        requiredKeys: required,
      },
    );
  if (/color/i.test(name)) return fc.constantFrom('#1A2B3C', '#ffffff');
  if (name === 'url') return fc.constantFrom('http://127.0.0.1:9/a', 'https://name.invalid/');
  if (/destination/.test(name)) return fc.constantFrom('https://example.com/ä', 'http://[2001:db8::1]:8080/?a=b#c');
  if (name === 'short_code') return fc.string({ unit: fc.constantFrom(...'abcXYZ019'), minLength: 12, maxLength: 20 });
  return fc.constantFrom('Menu', '菜单 🍜', 'x'.repeat(255));
}

/** The bytes of a body: valid, almost valid, or anything. */
function bodyOf(schema: JsonSchema): fc.Arbitrary<string | Uint8Array> {
  const fits = validValue(schema, '').map((value) => value as Record<string, unknown>);
  const names = [...Object.keys((schema['properties'] ?? {}) as object), '__proto__', 'constructor', 'id', ''];
  const almost = fc.tuple(fits, fc.constantFrom(...names), anything).map(([value, name, other]) =>
    // Written as text, because assigning `__proto__` would set the prototype.
    JSON.stringify(value).replace(
      /\}$/,
      `${Object.keys(value).length > 0 ? ',' : ''}${JSON.stringify(name)}:${JSON.stringify(other)}}`,
    ),
  );
  const twice = fc.tuple(fits, anything).map(([value, other]) => {
    const [first = 'name'] = Object.keys(value);
    return JSON.stringify(value)
      .replace(/^\{/, `{${JSON.stringify(first)}:${JSON.stringify(other)},`)
      .replace(/,\}$/, '}');
  });
  const broken = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.tuple(fits, fc.nat(60)).map(([value, at]) => JSON.stringify(value).slice(0, at)),
    fits.map((value) => JSON.stringify(value).replace(/"/, '"\u00ff')).map((body) => Buffer.from(body, 'latin1')),
    fc.constantFrom('[', '{"a":').map((piece) => piece.repeat(5_000)),
    fc.constantFrom('[', '{"a":').map((piece) => `${piece.repeat(3_000)}1${(piece === '[' ? ']' : '}').repeat(3_000)}`),
    fc.constantFrom('{"name":1e400}', '{"name":-0}', '{"name":"\\u0000"}', '{"name":"\\ud800"}', 'null', '""', '1'),
  );
  return fc.oneof(
    { weight: 2, arbitrary: fits.map((value) => JSON.stringify(value)) },
    { weight: 4, arbitrary: almost },
    { weight: 1, arbitrary: twice },
    { weight: 1, arbitrary: anything.map((value) => JSON.stringify(value) ?? 'null') },
    { weight: 2, arbitrary: broken },
  );
}

/** The bytes of an upload: an image, one with other bytes in it or cut off, or anything. */
const image: fc.Arbitrary<Uint8Array> = fc.oneof(
  fc.constant(png({ width: 8, height: 6 })),
  fc.tuple(fc.nat(200), fc.uint8Array({ maxLength: 9 }), fc.nat(200)).map(([at, bytes, cut]) => {
    const whole = png({ width: 8, height: 6 });
    whole.set(bytes.slice(0, Math.max(0, whole.length - at)), Math.min(at, whole.length));
    return whole.subarray(0, whole.length - (cut > 100 ? 0 : cut));
  }),
  text.map((value) => svg(`<path d="M0 0h9v9z" fill="red"/>${value}`)),
  fc.uint8Array({ maxLength: 60 }),
);

/** Valid values of the headers below, which any of them may get mutated. */
const headerValues = [
  ...['de-AT,de;q=0.9,*;q=0.1', 'br;q=1.0, gzip;q=0.8', 'text/html, application/json;q=0.9', 'bytes=0-99,200-,-5'],
  ...['198.51.100.7, [2001:db8::1]:443', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', 'W/"abc", "x", *'],
  ...['order-1', 'scanlog_session=abc; scanlog_theme=dark', 'Wed, 01 Apr 2026 00:00:00 GMT'],
];

/** Any bytes that a header can contain: control characters are excluded, because Bun refuses to send them. */
const headerText = fc.oneof(text, mutatedText(headerValues, 2)).map((value) =>
  Buffer.from(value.slice(0, 500))
    .toString('latin1')
    .replace(/[\p{Cc}]/gu, ' '),
);

export interface AnyRequest {
  path: string;
  headers: Record<string, string>;
  body?: string | Uint8Array;
}

/** Requests to one operation, some of them with an id of `ids`, which exist. */
export function requestsTo(template: string, operation: OperationObject, ids: string[]): fc.Arbitrary<AnyRequest> {
  const { parameters = [], requestBody } = operation;
  const id = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...ids) },
    { weight: 1, arbitrary: text.map((value) => encodeURIComponent(`x${value.slice(0, 500)}`.toWellFormed())) },
    { weight: 1, arbitrary: fc.constantFrom('%', '%E0%A4%A', '%ff', '%00', '%20', '...', `${ids[0]}%2f..`) },
  );
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  const query = fc
    .tuple(
      ...inQuery.map(({ name, schema }) => fc.option(parameterValue(schema).map((value) => [name, value] as const))),
      fc.option(fc.tuple(fc.oneof(text, fc.constantFrom(...inQuery.map(({ name }) => name), 'x')), text)),
    )
    .map((pairs) => pairs.filter((pair) => pair !== null).map(([name, value]) => [name, value.toWellFormed()] as const))
    .map((pairs) =>
      pairs.map(([name, value]) => `${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(value)}`).join('&'),
    );
  const headers = fc.dictionary(
    fc.constantFrom(
      ...['x-request-id', 'accept', 'referer', 'user-agent', 'origin', 'if-none-match', 'range', 'cookie', 'x-a'],
      ...['accept-language', 'accept-encoding', 'if-modified-since', 'traceparent', 'idempotency-key', 'last-event-id'],
      ...parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name.toLowerCase()),
    ),
    headerText,
    { maxKeys: 2, noNullPrototype: true },
  );
  const content = requestBody?.content ?? {};
  const schema = content['application/json']?.schema;
  const body = schema !== undefined ? bodyOf(schema) : requestBody !== undefined ? image : fc.constant(undefined);
  const types = schema === undefined ? Object.keys(content) : [];
  const type = types.length === 0 ? fc.constant('application/json') : fc.constantFrom(...types);
  return fc
    .record({ id, query, headers, body, type })
    .map(({ id: given, query: search, headers: sent, body: bytes, type: named }) => ({
      path: `${template.replace(/\{\w+\}/, given)}${search === '' ? '' : `?${search}`}`,
      headers: bytes === undefined ? sent : { ...sent, 'content-type': named },
      ...(bytes === undefined ? {} : { body: bytes }),
    }));
}
