import { expect } from 'vitest';
import { expectDocumented } from './documented.ts';

/** A response with its body read. */
export interface ReceivedResponse<T = unknown> {
  status: number;
  headers: Headers;
  text: string;
  body: T;
}

export interface Api {
  get<T = Json>(path: string, headers?: Record<string, string>): Promise<ReceivedResponse<T>>;
  post<T = Json>(path: string, body: unknown, headers?: Record<string, string>): Promise<ReceivedResponse<T>>;
  put<T = Json>(path: string, body: unknown): Promise<ReceivedResponse<T>>;
  patch<T = Json>(path: string, body: unknown): Promise<ReceivedResponse<T>>;
  head(path: string): Promise<ReceivedResponse>;
  delete<T = Json>(path: string): Promise<ReceivedResponse<T>>;
  send<T = Json>(path: string, init: RequestInit): Promise<ReceivedResponse<T>>;
}

/** Tests assert on bodies without declaring their types. */
// biome-ignore lint/suspicious/noExplicitAny: a test asserts on the body, whatever its shape
export type Json = any;

/**
 * A client of the API that sends `key` with every request. A test fails on any status, field or header that the OpenAPI
 * document does not contain.
 */
export function apiClient(url: string, key?: string): Api {
  const authorization: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  async function send<T>(path: string, init: RequestInit): Promise<ReceivedResponse<T>> {
    const sentAt = Date.now();
    const response = await fetch(`${url}${path}`, {
      redirect: 'manual',
      ...init,
      headers: { ...authorization, ...(init.headers as Record<string, string>) },
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    const body = isJson && text ? JSON.parse(text) : text;
    const { status, headers } = response;
    if (/^\/v1(\/|$)/.test(path))
      await expectDocumented(url, { method: init.method ?? 'GET', path, status, headers, body, sentAt });
    return { status, headers, text, body };
  }
  return apiOver(send);
}

/** The methods of a client that sends every request with `send`. */
export function apiOver(send: Api['send']): Api {
  const withBody =
    (method: string) =>
    (path: string, body: unknown, headers: Record<string, string> = {}) =>
      send<Json>(path, {
        method,
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json', ...headers },
      });
  return {
    send,
    get: (path, headers = {}) => send(path, { headers }),
    post: withBody('POST'),
    put: withBody('PUT'),
    patch: withBody('PATCH'),
    head: (path) => send(path, { method: 'HEAD' }),
    delete: (path) => send(path, { method: 'DELETE' }),
  };
}

/** Creates a code, and fails with the response if that is refused. */
export async function created(api: Pick<Api, 'post'>, fields: Record<string, unknown> = {}): Promise<Json> {
  const { status, body } = await api.post('/v1/qrcodes', newCode(fields));
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

/** A create payload that is valid; `fields` replace or add to it. */
export const newCode = (fields: Record<string, unknown> = {}) => ({
  name: 'Menu',
  destination_url: 'https://example.com/menu',
  ...fields,
});
