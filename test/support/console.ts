import type { Json } from './api.ts';

export interface ConsoleAnswer {
  status: number;
  headers: Headers;
  text: string;
  body: Json;
}

/** A browser's tab, as far as HTTP knows of it: its cookie, and what browsers say about where a request comes from. */
export interface Tab {
  /** The session's token, once there is one. */
  cookie: string | undefined;
  /** Fills in the form, and answers with where it led. */
  signIn(key: string, fields?: Record<string, string>, headers?: Record<string, string>): Promise<ConsoleAnswer>;
  get(path: string, headers?: Record<string, string>): Promise<ConsoleAnswer>;
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ConsoleAnswer>;
}

const own = { 'sec-fetch-site': 'same-origin' };

export function openTab(url: string): Tab {
  const tab: Tab = {
    cookie: undefined,
    signIn: (key, fields = {}, headers = own) =>
      request('POST', '/console/session', new URLSearchParams({ key, ...fields }).toString(), {
        'content-type': 'application/x-www-form-urlencoded',
        ...headers,
      }),
    get: (path, headers = own) => request('GET', path, undefined, headers),
    send: (method, path, body, headers = { ...own, 'x-scanlog-console': '1' }) =>
      request(method, path, body === undefined ? undefined : JSON.stringify(body), {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      }),
  };
  async function request(method: string, path: string, body: string | undefined, headers: Record<string, string>) {
    const response = await fetch(`${url}${path}`, {
      method,
      redirect: 'manual',
      headers: { ...headers, ...(tab.cookie === undefined ? {} : { cookie: tab.cookie }) },
      ...(body === undefined ? {} : { body }),
    });
    const [pair] = response.headers.get('set-cookie')?.split(';') ?? [];
    if (pair !== undefined) tab.cookie = pair.endsWith('=') ? undefined : pair;
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    return { status: response.status, headers: response.headers, text, body: isJson && text ? JSON.parse(text) : text };
  }
  return tab;
}
