import type { Json } from './api.ts';

export interface ConsoleResponse {
  status: number;
  headers: Headers;
  text: string;
  body: Json;
}

/** A browser tab at the HTTP level: it keeps the session cookie and sends the headers of a same-origin request. */
export interface Tab {
  /** The `name=value` pair of the session cookie. */
  cookie: string | undefined;
  /** The `name=value` pair of the cookie that says who signed in on this device before. */
  device: string | undefined;
  /** Submits the sign-in form; redirects are not followed. */
  signIn(key: string, fields?: Record<string, string>, headers?: Record<string, string>): Promise<ConsoleResponse>;
  /** Submits a form; redirects are not followed. */
  form(path: string, fields: Record<string, string>, headers?: Record<string, string>): Promise<ConsoleResponse>;
  get(path: string, headers?: Record<string, string>): Promise<ConsoleResponse>;
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ConsoleResponse>;
}

const sameOrigin = { 'sec-fetch-site': 'same-origin' };

export function openTab(url: string): Tab {
  const tab: Tab = {
    cookie: undefined,
    device: undefined,
    signIn: (key, fields = {}, headers) => tab.form('/console/session', { key, ...fields }, headers),
    form: (path, fields, headers = sameOrigin) =>
      request('POST', path, new URLSearchParams(fields).toString(), {
        'content-type': 'application/x-www-form-urlencoded',
        ...headers,
      }),
    get: (path, headers = sameOrigin) => request('GET', path, undefined, headers),
    send: (method, path, body, headers = { ...sameOrigin, 'x-scanlog-console': '1' }) =>
      request(method, path, body === undefined ? undefined : JSON.stringify(body), {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      }),
  };
  async function request(method: string, path: string, body: string | undefined, headers: Record<string, string>) {
    const cookies = [tab.cookie ?? [], tab.device ?? []].flat().join('; ');
    const response = await fetch(`${url}${path}`, {
      method,
      redirect: 'manual',
      headers: { ...headers, ...(cookies === '' ? {} : { cookie: cookies }) },
      ...(body === undefined ? {} : { body }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';');
      if (/_device=/.test(pair)) tab.device = pair;
      else tab.cookie = pair.endsWith('=') ? undefined : pair;
    }
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    return { status: response.status, headers: response.headers, text, body: isJson && text ? JSON.parse(text) : text };
  }
  return tab;
}
