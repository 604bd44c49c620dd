import type { TSchema } from '@sinclair/typebox';
import type { DocumentDecoration } from 'elysia';
import type { ErrorCode } from '../lib/errors.ts';
import {
  AccountExportFile,
  AccountHeatMap,
  AccountTimeSeries,
  Aggregate,
  CodeFigures,
  Destinations,
  ExportFile,
  HeatMap,
  OwnedScanRecord,
  ScanRecord,
  Summary,
  TimeSeries,
} from './analytics/schemas.ts';
import { statusOf } from './error-status.ts';
import { AuditEvent, Event } from './event-schemas.ts';
import { CreatedLogo, ListedLogo } from './logos.ts';
import { type Operation, tags } from './operation.ts';
import { NewPreflight, Preflight } from './preflight-schemas.ts';
import { RevertAnswer, RevertRequest } from './revert.ts';
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
  PastListedQrCode,
  PastQrCode,
  QrCode,
  QrCodeChange,
  QrCodeDuplicate,
  RestoreRequest,
} from './schemas.ts';
import { NewSheet } from './sheet-request.ts';
import { deliveryRules, eventRules } from './webhook-rules.ts';
import { DeletedWebhook, Delivery, NewWebhook, Webhook, WebhookTest, webhookBodies } from './webhook-schemas.ts';
import {
  DeletedSubscription,
  eventBodies,
  NewReplay,
  NewSubscription,
  Replay,
  Subscription,
  SubscriptionChange,
  SubscriptionDelivery,
  SubscriptionTest,
} from './webhooks-schemas.ts';

/** Errors that every operation can return; `invalid_request` at least for an unknown query parameter. */
const commonErrors: ErrorCode[] = [
  'invalid_request',
  'unauthorized',
  'account_suspended',
  'rate_limited',
  'internal_error',
  'unavailable',
];

const causes: Record<ErrorCode, string> = {
  invalid_request: 'The request is invalid; `details` names each invalid field.',
  destination_blocked: 'The operator of the service has blocked the host of the destination.',
  unreadable_style:
    'No decoder reads the code, because of its logo, frame, gradient or quiet zone; `allow_unreadable` creates it all the same.',
  unauthorized: 'The API key is missing, malformed, unknown or revoked.',
  quota_exceeded:
    'The account has as many QR codes as its plan allows, as many test codes or logos as the operator allows, or as many webhooks as a mode can have.',
  plan_required: 'The plan of the account does not include this operation.',
  account_suspended: 'The operator of the service has suspended the account; the message contains the reason.',
  live_key_required: 'The operation needs a live key, and the request has a test key.',
  not_found: 'It does not exist in this account and mode.',
  method_not_allowed: 'The path does not support this method; `Allow` lists the methods it supports.',
  short_code_taken: 'The short code belongs, or once belonged, to another QR code.',
  conflict: 'Other requests changed the same resource at the same time: send the request again.',
  replay_running: 'A replay of the webhook is running: a webhook has one at a time.',
  idempotency_conflict: 'The `Idempotency-Key` was used with a different request.',
  logo_in_use: 'A QR code has the logo in its style: delete that code first.',
  account_changed: 'In the console only: its session belongs to another account than the page.',
  gone: 'It was deleted.',
  disabled: 'The operator of the service has disabled it.',
  version_mismatch: 'The QR code no longer has the version that `If-Match` names; `ETag` is its version now.',
  payload_too_large: 'The body, or the uploaded picture, is larger than 1 MiB.',
  unsupported_media_type:
    'The body is not of a type that the operation takes (`application/json` in UTF-8, or a picture), or is compressed.',
  rate_limited: 'Too many requests in this window of 60 s; `Retry-After` is the number of seconds to wait.',
  internal_error: 'Internal error. Report the `X-Request-Id` to the operator of the service, who finds it in the log.',
  unavailable: 'A part of the service is unavailable or busy; try again after `Retry-After` seconds.',
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
  'X-Request-Id': header(
    'Identifier of the request: the one that the client sent, if it is valid, else a new one.',
    'req_0VMNcq2hE3kx0dTtWq8LbY',
  ),
};

const retryAfter = { 'Retry-After': header('Seconds to wait.', 5) };
const errorHeaders: Record<number, object> = {
  401: { 'WWW-Authenticate': header('Authentication scheme.', 'Bearer') },
  412: { ETag: header('The current version of the code.', '"4"') },
  429: retryAfter,
  503: retryAfter,
};

/** The OpenAPI description of an operation, generated from the schemas that validate its requests. */
export function describe(operation: Operation): DocumentDecoration {
  const { operationId, tag, summary, description, success, body, upload } = operation;
  return {
    tags: [tag],
    summary,
    description,
    operationId,
    security: [{ key: [] }],
    parameters: parameters(operation),
    ...(body === undefined ? {} : { requestBody: { required: true, content: content(body) } }),
    ...(upload === undefined ? {} : { requestBody: { required: true, content: uploadContent(upload) } }),
    responses: {
      [success.status]: {
        description: success.description,
        headers: { ...answerHeaders, ...ownHeaders(success) },
        content: successContent(success),
      },
      ...(success.keepable
        ? { 304: { description: 'The file is the one that `If-None-Match` names.', headers: answerHeaders } }
        : {}),
      ...errors(operation),
    },
  } as DocumentDecoration;
}

const content = (schema: TSchema) => ({ 'application/json': { schema: refTo(schema), example: exampleOf(schema) } });

/** A file as the body, or as `file` of a form. */
const uploadContent = (types: string[]) =>
  Object.fromEntries(
    types.map((type) => {
      const file = { type: 'string', format: 'binary' };
      return [
        type,
        { schema: type.startsWith('multipart/') ? { type: 'object', properties: { file }, required: ['file'] } : file },
      ];
    }),
  );

/** Named schemas: generated clients use the names, and references keep the document small. */
const components: Record<string, TSchema> = {
  ...{
    QrCode,
    ListedQrCode,
    CreatedQrCode,
    NewQrCode,
    NewQrCodes,
    QrCodeChange,
    QrCodeDuplicate,
    HistoryEntry,
    Deleted,
  },
  ...{ PastQrCode, PastListedQrCode, RestoreRequest, RevertRequest, RevertAnswer },
  ...{ Preflight, NewPreflight, NewSheet },
  ...{ Summary, ScanRecord, TimeSeries, HeatMap, Destinations, ExportFile, Aggregate, CodeFigures },
  ...{ OwnedScanRecord, AccountTimeSeries, AccountHeatMap, AccountExportFile },
  ...{ CreatedLogo, ListedLogo },
  ...{ Account, ApiKey, CreatedApiKey, NewApiKey, Error: ErrorAnswer },
  ...{ Event, AuditEvent },
  ...{ Webhook, NewWebhook, DeletedWebhook, WebhookTest, Delivery },
  ...{ Subscription, NewSubscription, SubscriptionChange, DeletedSubscription, SubscriptionTest, SubscriptionDelivery },
  ...{ Replay, NewReplay },
  ...Object.fromEntries(eventBodies.map(({ schemaName, schema }) => [schemaName, schema])),
  ...Object.fromEntries(webhookBodies.map(({ schemaName, schema }) => [schemaName, schema])),
};
const names = new Map(Object.entries(components).map(([name, schema]) => [schema, name]));

/** A reference to a named schema; any other schema, with references to the named schemas in it. */
function refTo(schema: TSchema): object {
  const name = names.get(schema);
  return name === undefined ? withReferences(schema) : { $ref: `#/components/schemas/${name}` };
}

function withReferences(schema: TSchema): object {
  const properties = Object.entries<TSchema>(schema['properties'] ?? {});
  return {
    ...schema,
    ...(schema['items'] === undefined ? {} : { items: refTo(schema['items']) }),
    ...(schema['anyOf'] === undefined ? {} : { anyOf: schema['anyOf'].map(refTo) }),
    ...(properties.length === 0
      ? {}
      : { properties: Object.fromEntries(properties.map(([name, property]) => [name, refTo(property)])) }),
  };
}

/** The example of the schema, or one composed of the examples of its required parts. */
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
    // `?tag=a&tag=b` for a list.
    ...(schema['type'] === 'array' ? { style: 'form', explode: true } : {}),
    schema,
  }));
  const inHeader = Object.entries(headers).map(([name, description]) => ({
    ...{ name, in: 'header', required: false, description },
    schema: { type: 'string' },
  }));
  return [...inPath, ...inQuery, ...inHeader];
}

function errors({ errors: own }: Operation) {
  const byStatus = Map.groupBy(new Set([...own, ...commonErrors]), (code) => statusOf[code]);
  return Object.fromEntries([...byStatus].map(([status, codes]) => [status, errorOf(status, codes)]));
}

function deliveryHeader(name: string, description: string, example: string) {
  return { name, in: 'header', required: true, description, schema: { type: 'string' }, example };
}

/** Headers that every response has are documented only with the success, to keep the errors readable. */
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
    content: { 'application/json': { schema: refTo(ErrorAnswer), ...examples } },
  };
}

const deliveryHeaders = [
  deliveryHeader('webhook-id', 'Identifier of the delivery, the same on every attempt.', 'whd_0VMOcq2hE3kx0dTtWq8LbY'),
  deliveryHeader('webhook-timestamp', 'Unix time of the attempt, in seconds.', '1900000000'),
  deliveryHeader(
    'webhook-signature',
    '`v1,` and the HMAC-SHA-256 of `<webhook-id>.<webhook-timestamp>.<body>` under the secret, in base64. For 24 hours after a rotation two of them, separated by a space.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
];

/** `scan.created` → `receiveScanCreated` */
const receiverId = (type: string) =>
  `receive${type.replace(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())}`;

/** A request that the service sends to a webhook. */
const sentRequest = (tag: string, operationId: string, description: string, summary: string, body: TSchema) => ({
  post: {
    tags: [tag],
    summary,
    description,
    operationId,
    // The receiver authenticates the request by its signature.
    security: [],
    parameters: deliveryHeaders,
    requestBody: { required: true, content: content(body) },
    responses: {
      '2XX': { description: 'The delivery has succeeded. Up to 1 KiB of the body is kept in the delivery log.' },
      410: { description: 'The webhook is disabled.' },
      default: { description: 'Any other response, and none within 15 s: the delivery is retried.' },
    },
  },
});

/** The requests that the service sends: to the webhook of an account for each event type, and to those of /v1/webhooks. */
const webhooks = Object.fromEntries([
  ...webhookBodies.map(({ type, summary, schema }) => [
    type,
    sentRequest('Webhook', receiverId(type), deliveryRules, summary, schema),
  ]),
  ...eventBodies.map(({ schemaName, summary, schema }) => [
    schemaName,
    sentRequest('Webhooks', `receive${schemaName}`, eventRules, summary, schema),
  ]),
]);

export const documentation = {
  openapi: '3.1.0',
  // The origin that the page was loaded from, so that "Try it out" works under every host name of the service.
  servers: [{ url: '/' }],
  info: {
    title: 'Scanlog',
    version: '1',
    description: [
      'Dynamic QR codes: create and print them, and change their destination later. Every scan is recorded exactly once.',
      'Every request needs the header `Authorization: Bearer <key>`. QR codes created with an `sk_test_` key are visible only to test keys and do not count against the quota of the plan; the operator may limit their number.',
      'Every response, errors included, has the headers `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset` (Unix time, in seconds) and `X-Request-Id`.',
      'The operator may delete scans after a number of months. Analytics and exports no longer include deleted scans; `total_scans` and `unique_scans` of a code still do.',
      'A response is the requested data without an envelope; an error is `{"error": {"code", "message", "details"}}`. Times are ISO 8601, in UTC.',
    ].join('\n\n'),
    // No email and no URL: each installation has its own operator, whose address is not in the settings.
    contact: { name: 'The operator of this service' },
    license: { name: 'MIT License', identifier: 'MIT' },
  },
  webhooks,
  tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
  components: {
    schemas: Object.fromEntries(Object.entries(components).map(([name, schema]) => [name, withReferences(schema)])),
    securitySchemes: {
      key: { type: 'http' as const, scheme: 'bearer', description: 'An API key: `sk_live_…` or `sk_test_…`.' },
    },
  },
};
