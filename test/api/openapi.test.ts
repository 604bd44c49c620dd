import { Elysia } from 'elysia';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { isReserved } from '../../events/reserved-words.ts';
import { connectWarehouse } from '../../src/analytics/connect.ts';
import { statusOf } from '../../src/api/http/error-status.ts';
import { serveApi } from '../../src/api/v1.ts';
import { addressesOf, readConfig } from '../../src/config/config.ts';
import { serveConsole } from '../../src/console/serve.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { createMetrics } from '../../src/lib/metrics.ts';
import { serveHealth } from '../../src/service/health.ts';
import { documentOf, type MediaType, type OpenApi, type OperationObject } from '../support/documented.ts';
import { idleFeed } from '../support/feed.ts';
import { violationsOf } from '../support/json-schema.ts';
import { useService } from '../support/service.ts';
import { webhookParts } from '../support/webhook-parts.ts';

const service = useService({ projections: false });
let document: OpenApi;
let operations: [name: string, operation: OperationObject, path: string][];

beforeAll(async () => {
  document = await documentOf(service.urls[0] as string);
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) =>
        [`${method.toUpperCase()} ${path}`, operation, path] as [string, OperationObject, string],
    ),
  );
});

const examplesOf = ({ example, examples = {} }: MediaType): unknown[] => [
  ...(example === undefined ? [] : [example]),
  ...Object.values(examples).map(({ value }) => value),
];

describe('the document', () => {
  test('is OpenAPI 3 and describes every operation of the interface', () => {
    expect(document.openapi).toMatch(/^3\.\d\.\d$/);
    expect(operations.map(([name]) => name)).toEqual(
      expect.arrayContaining([
        'POST /v1/qrcodes',
        'GET /v1/qrcodes',
        'POST /v1/qrcodes/bulk',
        'GET /v1/qrcodes/{id}',
        'PATCH /v1/qrcodes/{id}',
        'DELETE /v1/qrcodes/{id}',
        'GET /v1/qrcodes/{id}/history',
        'GET /v1/qrcodes/{id}/analytics',
        'GET /v1/analytics/qrcodes/{id}',
        'GET /v1/qrcodes/{id}/analytics/scans',
        'GET /v1/qrcodes/{id}/analytics/timeseries',
        'GET /v1/qrcodes/{id}/analytics/destinations',
        'GET /v1/qrcodes/{id}/analytics/export',
        'GET /v1/analytics/aggregate',
        'GET /v1/account',
        'GET /v1/account/keys',
        'POST /v1/account/keys',
        'DELETE /v1/account/keys/{id}',
        'GET /v1/account/webhook',
        'PUT /v1/account/webhook',
        'DELETE /v1/account/webhook',
        'POST /v1/account/webhook/rotate',
        'POST /v1/account/webhook/test',
        'GET /v1/account/webhook/deliveries',
        'POST /v1/account/webhook/deliveries/{id}/resend',
      ]),
    );
  });

  test('describes only /v1', () => {
    for (const [, , path] of operations) expect(path).toMatch(/^\/v1\//);
  });

  test('every operation requires a bearer key', () => {
    expect(document.components.securitySchemes).toEqual({
      key: expect.objectContaining({ type: 'http', scheme: 'bearer' }),
    });
    expect(document.security).toEqual([{ key: [] }]);
    for (const [name, operation] of operations) expect(operation, name).not.toHaveProperty('security');
  });

  test('every operation has a summary, a description, a tag and a unique operationId', () => {
    for (const [name, { summary, description, tags, operationId }] of operations) {
      expect(summary, name).toMatch(/\w/);
      expect(description, name).toMatch(/\w/);
      expect(tags, name).toHaveLength(1);
      expect(operationId, name).toMatch(/^[a-z]+([A-Z][a-z]+)+$/);
    }
    const ids = operations.map(([, { operationId }]) => operationId);
    expect(new Set(ids).size).toBe(operations.length);
    expect(ids).toEqual(
      expect.arrayContaining(['createQrCode', 'listQrCodes', 'getQrCode', 'updateQrCode', 'deleteQrCode']),
    );
  });

  test('describes the event that webhooks receive, with an example that matches its schema', () => {
    const { post } = document.webhooks['scan.created'] as Record<string, OperationObject>;
    expect(post?.operationId).toBe('receiveScanCreated');
    expect(post?.parameters?.map(({ name }) => name)).toEqual([
      ...['webhook-id', 'webhook-timestamp', 'webhook-signature'],
    ]);
    const media = post?.requestBody?.content['application/json'] as MediaType;
    expect(media.example).toMatchObject({ event: 'scan.created', data: { qr_id: expect.any(String) } });
    expect(violationsOf(media.schema ?? {}, media.example, 'scan.created')).toEqual([]);
  });

  test('is served at /openapi.json too', async () => {
    const [plain, swagger] = await Promise.all(
      ['/openapi.json', '/swagger/json'].map((path) => fetch(`${service.urls[0]}${path}`)),
    );
    expect(plain?.headers.get('content-type')).toBe(swagger?.headers.get('content-type'));
    expect(await plain?.json()).toEqual(await swagger?.json());
  });

  test('describes every tag, and every tag is used', () => {
    const used = new Set(operations.flatMap(([, { tags = [] }]) => tags));
    expect(new Set(document.tags.map(({ name }) => name))).toEqual(used);
    for (const { name, description } of document.tags) expect(description, name).toMatch(/\w/);
  });

  test('names the license, and the operator as the contact', () => {
    expect(document.info).toMatchObject({ license: { identifier: 'MIT' }, contact: { name: expect.any(String) } });
  });

  test('path parameters match the placeholders of the path, and every parameter has a description', () => {
    for (const [name, { parameters = [] }, path] of operations) {
      const placeholders = [...path.matchAll(/\{(\w+)\}/g)].map(([, placeholder]) => placeholder);
      const inPath = parameters.filter((parameter) => parameter.in === 'path');
      expect(
        inPath.map((parameter) => parameter.name),
        name,
      ).toEqual(placeholders);
      for (const parameter of parameters) {
        expect(parameter.description, `${name} ${parameter.name}`).toMatch(/\w/);
        expect(parameter.schema, `${name} ${parameter.name}`).toHaveProperty('type');
        expect(parameter.required ?? false).toBe(parameter.in === 'path');
      }
    }
  });

  test('lists document their defaults and limits', () => {
    const list = document.paths['/v1/qrcodes']?.['get'];
    const schemas = Object.fromEntries(list?.parameters?.map(({ name, schema }) => [name, schema]) ?? []);
    expect(schemas).toMatchObject({
      page: { type: 'integer', minimum: 1, default: 1 },
      limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
      status: { enum: ['active', 'paused', 'draft'] },
    });
  });
});

describe('responses', () => {
  test('every operation has one success and every possible error', () => {
    for (const [name, { responses, requestBody }, path] of operations) {
      const statuses = Object.keys(responses).map(Number);
      expect(
        statuses.filter((status) => status < 300),
        name,
      ).toHaveLength(1);
      const expected = [401, 429, 500, 503];
      if (requestBody !== undefined) expected.push(400, 413, 415);
      if (path.includes('{id}')) expected.push(404);
      expect(statuses, name).toEqual(expect.arrayContaining(expected));
    }
  });

  test('every response has a description, and an example that matches its schema', () => {
    for (const [name, { responses }] of operations) {
      for (const [status, { description, content = {} }] of Object.entries(responses)) {
        const what = `${name} ${status}`;
        expect(description, what).toMatch(/\w/);
        const media = content['application/json'];
        if (media === undefined) {
          // A file, or an empty 304.
          for (const { schema } of Object.values(content)) expect(schema, what).toMatchObject({ format: 'binary' });
          continue;
        }
        const examples = examplesOf(media as MediaType);
        expect(examples.length, `examples of ${what}`).toBeGreaterThan(0);
        for (const example of examples) expect(violationsOf(media?.schema ?? {}, example, what)).toEqual([]);
      }
    }
  });

  test('documents response headers', () => {
    for (const [name, { responses }] of operations) {
      const headersOf = (status: string | undefined) => Object.keys(responses[status ?? '']?.headers ?? {}).toSorted();
      const success = Object.keys(responses).find((status) => Number(status) < 300);
      const always = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'X-Request-Id'];
      expect(headersOf(success), name).toEqual(expect.arrayContaining(always));
      expect(headersOf('401'), name).toEqual(['WWW-Authenticate']);
      expect(headersOf('429'), name).toEqual(['Retry-After']);
      expect(headersOf('503'), name).toEqual(['Retry-After']);
    }
  });

  test('error codes exist and are listed under their status', () => {
    for (const [name, { responses }] of operations) {
      for (const [status, { content = {} }] of Object.entries(responses)) {
        if (Number(status) < 400) continue;
        for (const example of examplesOf(content['application/json'] ?? {})) {
          const { code } = (example as { error: { code: keyof typeof statusOf } }).error;
          expect(statusOf[code], `${name} ${code}`).toBe(Number(status));
        }
      }
    }
  });

  test('every request body of JSON has an example that matches its schema', () => {
    const withBody = operations.filter(([, { requestBody }]) => requestBody?.content['application/json'] !== undefined);
    expect(withBody.length).toBeGreaterThanOrEqual(4);
    for (const [name, { requestBody }] of withBody) {
      const media = requestBody?.content['application/json'] as MediaType;
      expect(requestBody?.required, name).toBe(true);
      expect(examplesOf(media).length, name).toBeGreaterThan(0);
      for (const example of examplesOf(media)) expect(violationsOf(media.schema ?? {}, example, name)).toEqual([]);
    }
  });
});

test('every first path segment of the service is a reserved short code', async () => {
  const app = new Elysia();
  const log = createLogger('silent', false);
  const { sql } = service.database;
  const addresses = addressesOf(readConfig({}), 3000);
  const warehouse = connectWarehouse({ ...readConfig({}), ...inject('stack') });
  serveHealth(app, {}, log);
  const parts = {
    sql,
    warehouse,
    clock: systemClock,
    addresses,
    maxLogos: 10,
    signup: 'invite' as const,
    signupPlan: 'free' as const,
    limits: { testCodes: 10, givenShortCodes: 10 },
    webhooks: webhookParts,
    domains: { check: async () => {} },
    feed: idleFeed(sql),
    onChange: async () => {},
  };
  const { trustedProxies } = readConfig({});
  serveConsole(app, parts, serveApi(app, parts, { trustedProxies, log, isReady: () => true }), {
    log,
    metrics: createMetrics(),
  });
  const routes = app.routes.map(({ path }) => path.split('/')[1] as string).filter((segment) => segment !== '');
  expect(routes).toEqual(expect.arrayContaining(['v1', 'healthz', 'readyz', 'swagger', 'console']));
  const served = [...new Set([...routes, 'metrics', 'images', 'favicon.ico', 'robots.txt'])];
  for (const segment of served) expect(isReserved(segment), segment).toBe(true);

  const { live } = await service.account();
  for (const segment of served.filter((word) => /^\w{3,}$/.test(word))) {
    const response = await live.post('/v1/qrcodes', {
      name: 'Hidden',
      destination_url: 'https://example.com',
      short_code: segment,
    });
    expect(response.status, segment).toBe(400);
  }
});
