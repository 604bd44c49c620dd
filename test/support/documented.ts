import { type JsonSchema, violationsOf } from './json-schema.ts';

/** The part of the OpenAPI document that tests read. */
export interface OpenApi {
  openapi: string;
  info: Record<string, unknown>;
  servers: { url: string }[];
  tags: { name: string; description?: string }[];
  security: Record<string, string[]>[];
  paths: Record<string, Record<string, OperationObject>>;
  webhooks: Record<string, Record<string, OperationObject>>;
  components: { securitySchemes: Record<string, Record<string, string>>; schemas?: Record<string, JsonSchema> };
}

export interface OperationObject {
  operationId: string;
  summary?: string;
  description?: string;
  tags?: string[];
  'x-scope'?: string;
  'x-role'?: string;
  parameters?: { name: string; in: string; required?: boolean; description?: string; schema: JsonSchema }[];
  requestBody?: { required?: boolean; content: Record<string, MediaType> };
  responses: Record<
    string,
    { description: string; headers?: Record<string, unknown>; content?: Record<string, MediaType> }
  >;
}

export interface MediaType {
  schema?: JsonSchema;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}

interface Exchange {
  method: string;
  path: string;
  status: number;
  headers: Headers;
  body: unknown;
  /** When the request was sent, in milliseconds. */
  sentAt: number;
}

const documents = new Map<string, Promise<OpenApi>>();

export type DocumentedOperation = [method: string, path: string, operation: OperationObject];

/** All operations in the OpenAPI document of the service at `url`. */
export async function operationsOf(url: string): Promise<DocumentedOperation[]> {
  const { paths } = await documentOf(url);
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): DocumentedOperation => [method.toUpperCase(), path, operation]),
  );
}

/** The OpenAPI document of the service at `url`, fetched once. */
export function documentOf(url: string): Promise<OpenApi> {
  const known = documents.get(url);
  if (known !== undefined) return known;
  const document = fetch(`${url}/swagger/json`)
    .then((response) => response.text())
    .then(dereference);
  documents.set(url, document);
  return document;
}

let last: { text: string; document: OpenApi } | undefined;

/** Most services of a process have the same document, which is dereferenced once. */
function dereference(text: string): OpenApi {
  if (last?.text !== text) {
    const raw = JSON.parse(text) as OpenApi;
    last = { text, document: dereferenced(raw, raw) as OpenApi };
  }
  return last.document;
}

/** A later service of this process may listen on the same port. */
export const forgetDocument = (url: string): boolean => documents.delete(url);

/** Replaces every `$ref` by what it refers to. */
function dereferenced(part: unknown, root: OpenApi): unknown {
  if (Array.isArray(part)) return part.map((item) => dereferenced(item, root));
  if (typeof part !== 'object' || part === null) return part;
  if ('$ref' in part) {
    const [, kind = '', name = ''] = /^#\/components\/(\w+)\/(.+)$/.exec(String(part.$ref)) ?? [];
    const shared = root.components[kind as 'schemas']?.[name];
    if (shared === undefined) throw new Error(`the document refers to ${part.$ref}, which does not exist`);
    return dereferenced(shared, root);
  }
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, dereferenced(value, root)]));
}

/** Throws unless a response under /v1 matches the OpenAPI document and has the headers of every response. */
export async function expectDocumented(url: string, exchange: Exchange): Promise<void> {
  const document = await documentOf(url);
  const violations = [...headerViolations(exchange), ...bodyViolations(document, exchange)];
  if (violations.length === 0) return;
  const { method, path, status, body } = exchange;
  throw new Error(
    `${method} ${path} answered ${status}, not as documented:\n  ${violations.join('\n  ')}\n  ${JSON.stringify(body)}`,
  );
}

/** Checks the headers of every response under /v1, whatever its status. */
function headerViolations({ headers, sentAt }: Exchange): string[] {
  const number = (name: string) => (/^\d+$/.test(headers.get(name) ?? '') ? Number(headers.get(name)) : Number.NaN);
  const limit = number('x-ratelimit-limit');
  const remaining = number('x-ratelimit-remaining');
  const reset = number('x-ratelimit-reset');
  return [
    ...((headers.get('x-request-id') ?? '') === '' ? ['X-Request-Id is missing'] : []),
    ...(limit > 0 ? [] : ['X-RateLimit-Limit is not a number']),
    ...(remaining >= 0 && remaining <= limit ? [] : ['X-RateLimit-Remaining is not a number up to the limit']),
    // The window had not ended when the request was counted, which was after it was sent; it may have ended since then.
    ...(reset >= sentAt / 1000 - 1 && reset <= Date.now() / 1000 + 62
      ? []
      : ['X-RateLimit-Reset is not a time within the next minute']),
  ];
}

function bodyViolations(document: OpenApi, { method, path, status, headers, body }: Exchange): string[] {
  const operation = operationOf(document, method === 'HEAD' ? 'GET' : method, path);
  const type = (headers.get('content-type') ?? '').split(';')[0] as string;
  // A path without an operation can only be answered with an error, which has the same schema everywhere.
  const documented = operation === undefined ? anyError(document) : operation.responses[String(status)];
  if (documented === undefined) return [`status ${status} is not documented`];
  const media = documented.content?.[type];
  if (media === undefined) return [`content type ${type} is not documented for status ${status}`];
  if (method === 'HEAD' || type !== 'application/json') return [];
  return violationsOf(media.schema ?? {}, body);
}

const anyError = (document: OpenApi) => document.paths['/v1/account']?.['get']?.responses['401'];

const patterns = new WeakMap<OpenApi, [template: string, pattern: RegExp][]>();

/** Every path of the document with a pattern for it, those with the fewest placeholders first. */
function patternsOf(document: OpenApi): [template: string, pattern: RegExp][] {
  const known = patterns.get(document);
  if (known !== undefined) return known;
  const made = Object.keys(document.paths)
    .sort((a, b) => a.split('{').length - b.split('{').length)
    .map((template): [string, RegExp] => [template, new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`)]);
  patterns.set(document, made);
  return made;
}

/** The operation of a path; of several that match, the one with the fewest placeholders. */
function operationOf(document: OpenApi, method: string, path: string): OperationObject | undefined {
  const plain = path.replace(/[?#].*$/s, '').replace(/\/$/, '');
  const [template] = patternsOf(document).find(([, pattern]) => pattern.test(plain)) ?? [];
  return template === undefined ? undefined : document.paths[template]?.[method.toLowerCase()];
}
