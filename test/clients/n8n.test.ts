import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { isSigned } from '../../clients/n8n/nodes/ScanlogTrigger/signature.ts';
import { webhookEventTypes } from '../../events/webhooks/webhook-events.ts';
import { newSigningSecret } from '../../src/webhooks/secrets.ts';
import { signedHeaders } from '../../src/webhooks/signature.ts';
import type { Json } from '../support/api.ts';
import { operationsOf } from '../support/documented.ts';
import { useService } from '../support/service.ts';

const service = useService({ projections: false });
const folder = fileURLToPath(new URL('../../clients/n8n', import.meta.url));
const textOf = (name: string) => readFileSync(join(folder, name), 'utf8');

test('every file parses, and package.json names the files that become nodes and credentials', async () => {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(ts|json)$/.test(name));
  const transpiler = new Bun.Transpiler({ loader: 'ts' });
  for (const name of names)
    if (name.endsWith('.json')) JSON.parse(textOf(name));
    else expect(() => transpiler.scan(textOf(name)), name).not.toThrow();
  const { n8n } = JSON.parse(textOf('package.json'));
  const built = [...n8n.nodes, ...n8n.credentials].map((path: string) => path.replace(/^dist\/(.*)\.js$/, '$1.ts'));
  expect(names).toEqual(expect.arrayContaining(built));
  expect(built.length).toBe(names.filter((name) => /\.(node|credentials)\.ts$/.test(name)).length);
});

test('each request of the node, and each field of it, exists in the API', async () => {
  // By a path that the compiler does not follow: the types of n8n are not installed here.
  const { codeProperties } = await import(join(folder, 'nodes/Scanlog/code.ts'));
  const { analyticsProperties } = await import(join(folder, 'nodes/Scanlog/analytics.ts'));
  const properties: Json[] = [...codeProperties, ...analyticsProperties];
  const documented = (await operationsOf(service.urls[0] as string)).map(
    ([method, path]) => `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, ':id')}`,
  );
  const { live } = await service.account();
  const operations = properties.filter(({ name }) => name === 'operation').flatMap(({ options }) => options);
  expect(operations.map(({ value }) => value).toSorted()).toEqual([
    'create',
    'delete',
    'get',
    'getAll',
    'summary',
    'update',
  ]);
  for (const { value, routing } of operations) {
    const path = routing.request.url.replace(/^=/, '').replaceAll(/\{\{.*?\}\}/g, ':id');
    const { method } = routing.request;
    expect(documented).toContain(`${method} ${path}`);
    for (const { type, property } of sentBy(properties, value)) {
      const { body } =
        type === 'query'
          ? await live.send<Json>(`${path}?${property}=`, { method })
          : await live.send<Json>(path, {
              method,
              headers: { 'content-type': 'application/json' },
              body: JSON.stringify({ [property]: {} }),
            });
      const details: Json[] = body.error?.details ?? [];
      const unknown = details.filter(({ message }) => /is not (an accepted field|a query parameter)/.test(message));
      expect(unknown, `${value}: ${property}`).toEqual([]);
    }
  }
});

/** What an operation of the node sends, in the body or the query. */
function sentBy(properties: Json[], operation: string): { type: 'body' | 'query'; property: string }[] {
  const shown = properties.filter(({ displayOptions }) => displayOptions?.show.operation?.includes(operation));
  return shown
    .flatMap((property) => [property, ...(property.options ?? [])])
    .flatMap(({ routing }) => routing?.send ?? []);
}

describe('the trigger', () => {
  test('offers events that webhooks can get', () => {
    const offered = [...textOf('nodes/ScanlogTrigger/ScanlogTrigger.node.ts').matchAll(/value: '([\w.]+)'/g)];
    expect(offered.length).toBeGreaterThan(0);
    for (const [, type] of offered) expect(webhookEventTypes).toContain(type);
  });

  test('accepts what the service signs, and nothing else', () => {
    const [secret, other] = [newSigningSecret(), newSigningSecret()];
    const now = 1_800_000_000;
    const text = '{"type":"scan.created"}';
    const headers = signedHeaders({ id: 'whd_1', body: text, secrets: [other, secret], at: new Date(now * 1_000) });
    const request = { headers, body: Buffer.from(text), secret, now };
    expect(isSigned(request)).toBe(true);
    expect(isSigned({ ...request, now: now + 299 })).toBe(true);
    expect(isSigned({ ...request, now: now + 301 }), 'sent again later').toBe(false);
    expect(isSigned({ ...request, body: Buffer.from('{}') })).toBe(false);
    expect(isSigned({ ...request, secret: newSigningSecret() })).toBe(false);
    expect(isSigned({ ...request, headers: {} })).toBe(false);
    expect(isSigned({ ...request, headers: { ...headers, 'webhook-signature': 'v1,' } })).toBe(false);
  });
});
