import type { TSchema } from '@sinclair/typebox';
import type { DocumentDecoration } from 'elysia';
import type { ErrorCode } from '../lib/errors.ts';
import { Aggregate, Destinations, ExportFile, ScanRecord, Summary, TimeSeries } from './analytics/schemas.ts';
import { statusOf } from './error-status.ts';
import { type Operation, tags } from './operation.ts';
import {
  Account,
  ApiKey,
  CreatedApiKey,
  CreatedQrCode,
  Deleted,
  ErrorAnswer,
  HistoryEntry,
  ListedQrCode,
  NewApiKey,
  NewQrCode,
  NewQrCodes,
  QrCode,
  QrCodeChange,
} from './schemas.ts';
import { DeletedWebhook, Delivery, NewWebhook, Webhook, WebhookTest } from './webhook-schemas.ts';

/** What every operation can answer with. */
const always: ErrorCode[] = ['unauthorized', 'account_suspended', 'rate_limited', 'internal_error', 'unavailable'];

const causes: Record<ErrorCode, string> = {
  invalid_request: 'Something in the request is not as it should be; `details` names each field.',
  destination_blocked: 'The operator of the service has blocked the destination’s host.',
  unauthorized: 'The API key is missing, malformed, unknown or revoked.',
  quota_exceeded: 'The plan’s QR codes, or the test codes that the operator allows, are used up.',
  plan_required: 'The plan does not include this.',
  account_suspended: 'The operator of the service has suspended the account; the message says why.',
  live_key_required: 'A test key cannot do this: use a live key.',
  not_found: 'There is no such thing in this account and mode.',
  method_not_allowed: 'The path exists, the method does not.',
  short_code_taken: 'The short code belongs, or once belonged, to another code.',
  conflict: 'Somebody else changed the same thing at the same moment, twice.',
  idempotency_conflict: 'The Idempotency-Key was used with another request.',
  gone: 'It existed, and was deleted.',
  disabled: 'The operator of the service has disabled it.',
  payload_too_large: 'The body has more than 1 MiB.',
  unsupported_media_type: 'The body is not JSON.',
  rate_limited: 'Too many requests in this minute; `Retry-After` says how many seconds to wait.',
  internal_error: 'Our fault. `X-Request-Id` names the case in the log.',
  unavailable: 'A part of the service is away; try again after `Retry-After` seconds.',
};

const header = (description: string, example: string | number) => ({
  description,
  schema: { type: typeof example === 'number' ? 'integer' : 'string' },
  example,
});

const answerHeaders = {
  'X-RateLimit-Limit': header('Requests allowed in a window of 60 s.', 60),
  'X-RateLimit-Remaining': header('Requests left in the window.', 59),
  'X-RateLimit-Reset': header('Unix time, in seconds, at which the window ends.', 1_900_000_000),
  'X-Request-Id': header('Names the request; sent back as given when well-formed.', 'req_0VMNcq2hE3kx0dTtWq8LbY'),
};

const retryAfter = { 'Retry-After': header('Seconds to wait.', 5) };
const errorHeaders: Record<number, object> = {
  401: { 'WWW-Authenticate': header('The scheme to use.', 'Bearer') },
  429: retryAfter,
  503: retryAfter,
};

/** An operation as OpenAPI describes it, made from the schemas that validate it. */
export function describe(operation: Operation): DocumentDecoration {
  const { method, path, tag, summary, description, success, body } = operation;
  return {
    tags: [tag],
    summary,
    description,
    operationId: operationId(method, path),
    security: [{ key: [] }],
    parameters: parameters(operation),
    ...(body === undefined ? {} : { requestBody: { required: true, content: content(body) } }),
    responses: {
      [success.status]: {
        description: success.description,
        headers: { ...answerHeaders, ...ownHeaders(success) },
        content: successContent(success),
      },
      ...(success.keepable
        ? { 304: { description: 'It is the one that `If-None-Match` names.', headers: answerHeaders } }
        : {}),
      ...errors(operation),
    },
  } as DocumentDecoration;
}

const content = (schema: TSchema) => ({ 'application/json': { schema: referred(schema), example: exampleOf(schema) } });

/** Schemas under a name of their own: for those who generate clients, and so that the document stays small. */
const components: Record<string, TSchema> = {
  ...{ QrCode, ListedQrCode, CreatedQrCode, NewQrCode, NewQrCodes, QrCodeChange, HistoryEntry, Deleted },
  ...{ Summary, ScanRecord, TimeSeries, Destinations, ExportFile, Aggregate },
  ...{ Account, ApiKey, CreatedApiKey, NewApiKey, Error: ErrorAnswer },
  ...{ Webhook, NewWebhook, DeletedWebhook, WebhookTest, Delivery },
};
const names = new Map(Object.entries(components).map(([name, schema]) => [schema, name]));

/** The schema with a reference in place of each one that has a name. */
function referred(schema: TSchema): object {
  const name = names.get(schema);
  return name === undefined ? withReferences(schema) : { $ref: `#/components/schemas/${name}` };
}

function withReferences(schema: TSchema): object {
  const properties = Object.entries<TSchema>(schema['properties'] ?? {});
  return {
    ...schema,
    ...(schema['items'] === undefined ? {} : { items: referred(schema['items']) }),
    ...(properties.length === 0
      ? {}
      : { properties: Object.fromEntries(properties.map(([name, property]) => [name, referred(property)])) }),
  };
}

/** The schema's own example, or one made from those of its parts; what is optional is left out. */
function exampleOf(schema: TSchema): unknown {
  const [own] = schema['examples'] ?? [];
  if (own !== undefined) return own;
  if (schema['const'] !== undefined) return schema['const'];
  if (schema['enum'] !== undefined) return schema['enum'][0];
  if (schema['anyOf'] !== undefined) return exampleOf(schema['anyOf'][0]);
  const required: string[] = schema['required'] ?? [];
  switch (schema['type']) {
    case 'object':
      return Object.fromEntries(required.map((name) => [name, exampleOf(schema['properties'][name])]));
    case 'array':
      return [exampleOf(schema['items'])];
    case 'boolean':
      return true;
    default:
      throw new Error(`This schema needs an example: ${JSON.stringify(schema)}`);
  }
}

const successContent = ({ schema, files = [] }: Operation['success']) => ({
  ...Object.fromEntries(files.map((type) => [type, { schema: { type: 'string', format: 'binary' } }])),
  ...(schema === undefined ? {} : content(schema)),
});

const ownHeaders = ({ headers = {} }: Operation['success']) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, { description, example }]) => [name, header(description, example)]),
  );

function parameters({ params = {}, query, headers = {} }: Operation) {
  const inPath = Object.entries(params).map(([name, description]) => ({
    ...{ name, in: 'path', required: true, description },
    schema: { type: 'string' },
  }));
  const inQuery = Object.entries(query?.properties ?? {}).map(([name, { description, ...schema }]) => ({
    ...{ name, in: 'query', required: false, description },
    schema,
  }));
  const inHeader = Object.entries(headers).map(([name, description]) => ({
    ...{ name, in: 'header', required: false, description },
    schema: { type: 'string' },
  }));
  return [...inPath, ...inQuery, ...inHeader];
}

function errors({ errors: own }: Operation) {
  const byStatus = Map.groupBy([...own, ...always], (code) => statusOf[code]);
  return Object.fromEntries([...byStatus].map(([status, codes]) => [status, errorOf(status, codes)]));
}

/** The headers of every answer are told once, with the success: under each error they would bury everything else. */
function errorOf(status: number, codes: ErrorCode[]) {
  const exampleOfCode = (code: ErrorCode) => ({ error: { code, message: causes[code] } });
  const examples =
    codes.length === 1
      ? { example: exampleOfCode(codes[0] as ErrorCode) }
      : { examples: Object.fromEntries(codes.map((code) => [code, { value: exampleOfCode(code) }])) };
  const headers = errorHeaders[status];
  return {
    description: codes.map((code) => `\`${code}\`: ${causes[code]}`).join('\n\n'),
    ...(headers === undefined ? {} : { headers }),
    content: { 'application/json': { schema: referred(ErrorAnswer), ...examples } },
  };
}

/** `GET /v1/qrcodes/:id/history` → `get_qrcodes_id_history` */
const operationId = (method: string, path: string) =>
  [method.toLowerCase(), ...path.split('/').slice(2)].join('_').replaceAll(':', '');

export const documentation = {
  openapi: '3.1.0',
  // Wherever the page was loaded from: under another name of the same service, "Try it out" works too.
  servers: [{ url: '/' }],
  info: {
    title: 'Scanlog',
    version: '1',
    description: [
      'Dynamic QR codes: create them, print them, and change later where they lead. Every scan is recorded exactly once.',
      'Every request carries `Authorization: Bearer <key>`. What is made with an `sk_test_` key is seen with test keys only, and counts against no plan’s quota; the operator may bound the number of test codes.',
      'Every answer, errors included, carries `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset` (Unix time, in seconds), and an `X-Request-Id`.',
      'The operator may delete scans after a number of months. Analytics and exports then have none of that time; `total_scans` and `unique_scans` of a code still count them.',
      'Answers are the requested data itself; errors are `{"error": {"code", "message", "details"}}`. Times are ISO 8601, in UTC.',
    ].join('\n\n'),
    // Each installation has its own operator, whose address the service does not know: no email, no url.
    contact: { name: 'The operator of this service' },
    license: { name: 'MIT License', identifier: 'MIT' },
  },
  tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
  components: {
    schemas: Object.fromEntries(Object.entries(components).map(([name, schema]) => [name, withReferences(schema)])),
    securitySchemes: {
      key: { type: 'http' as const, scheme: 'bearer', description: 'An API key: `sk_live_…` or `sk_test_…`.' },
    },
  },
};
