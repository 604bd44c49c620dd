import type { DocumentDecoration } from 'elysia';
import { accessOf } from '../http/access.ts';
import { type Operation, tags } from '../http/operation.ts';
import { components, content, header, withReferences } from './components.ts';
import { errorResponses } from './errors.ts';
import { webhooks } from './webhooks.ts';

const responseHeaders = {
  'X-RateLimit-Limit': header('Requests allowed in a window of 60 s.', 60),
  'X-RateLimit-Remaining': header('Requests left in the window.', 59),
  'X-RateLimit-Reset': header('Unix time, in seconds, at which the window ends.', 1_900_000_000),
  'X-Request-Id': header(
    'Identifier of the request: the one that the client sent, if it is valid, else a new one.',
    'req_0VMNcq2hE3kx0dTtWq8LbY',
  ),
};

/** The OpenAPI description of an operation, generated from the schemas that validate its requests. */
export function describe(operation: Operation): DocumentDecoration {
  const { operationId, tag, summary, description, success, body, upload, uploadExample } = operation;
  const { scope, role } = accessOf(operationId);
  return {
    tags: [tag],
    summary,
    description: `${description}\n\n${scope === null ? '' : `Scope: \`${scope}\`. `}Role: \`${role}\`.`,
    operationId,
    // Not in `security`: linters refuse scopes of a scheme that is not OAuth.
    ...(scope === null ? {} : { 'x-scope': scope }),
    'x-role': role,
    parameters: parameters(operation),
    ...(body === undefined ? {} : { requestBody: { required: true, content: content(body) } }),
    ...(upload === undefined ? {} : { requestBody: { required: true, content: uploadContent(upload, uploadExample) } }),
    responses: {
      [success.status]: {
        description: success.description,
        headers: { ...responseHeaders, ...ownHeaders(success) },
        content: successContent(success),
      },
      ...(success.cacheable
        ? { 304: { description: 'The file is the one that `If-None-Match` names.', headers: responseHeaders } }
        : {}),
      ...errorResponses(operation),
    },
  } as DocumentDecoration;
}

const anyJson = { anyOf: [{ type: 'array', items: { type: 'object' } }, { type: 'object' }] };

/** A file as the body, or as `file` of a form. */
const uploadContent = (types: string[], example: object | undefined) =>
  Object.fromEntries(
    types.map((type) => {
      if (type === 'application/json') return [type, { schema: anyJson, example }];
      const file = { type: 'string', format: 'binary' };
      return [
        type,
        { schema: type.startsWith('multipart/') ? { type: 'object', properties: { file }, required: ['file'] } : file },
      ];
    }),
  );

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
    name,
    in: 'path',
    required: true,
    description,
    schema: { type: 'string' },
  }));
  const inQuery = Object.entries(query?.properties ?? {}).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: false,
    description,
    // `?tag=a&tag=b` for a list.
    ...(schema['type'] === 'array' ? { style: 'form', explode: true } : {}),
    schema,
  }));
  const inHeader = Object.entries(headers).map(([name, description]) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  }));
  return [...inPath, ...inQuery, ...inHeader];
}

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
  security: [{ key: [] }],
  webhooks,
  tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
  components: {
    schemas: Object.fromEntries(Object.entries(components).map(([name, schema]) => [name, withReferences(schema)])),
    securitySchemes: {
      key: {
        type: 'http' as const,
        scheme: 'bearer',
        description:
          'An API key: `sk_live_…` or `sk_test_…`. A key with `scopes` can do only what needs one of them; each operation names its scope.',
      },
    },
  },
};
