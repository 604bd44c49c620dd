import { requestIdOf } from '../lib/request-id.ts';

/** The answer to a scan that cannot be redirected. */
export interface Notice {
  status: 404 | 405 | 410 | 503;
  code: string;
  title: string;
  text: string;
  headers?: Record<string, string>;
}

export const notices = {
  unknown: {
    status: 404,
    code: 'not_found',
    title: 'No such code',
    text: 'This QR code does not exist. Check the link, or ask the person who gave it to you.',
  },
  paused: {
    status: 404,
    code: 'not_found',
    title: 'This code is paused',
    text: 'It was paused by its owner. Please try again later.',
  },
  draft: {
    status: 404,
    code: 'not_found',
    title: 'This code is not active yet',
    text: 'Its owner has not published it yet. Please try again later.',
  },
  not_started: {
    status: 404,
    code: 'not_started',
    title: 'This code is not active yet',
    text: 'It starts later. Please try again then.',
  },
  expired: {
    status: 404,
    code: 'expired',
    title: 'This code has expired',
    text: 'Its owner set an end, and that has passed.',
  },
  limit_reached: {
    status: 404,
    code: 'limit_reached',
    title: 'This code has reached its limit',
    text: 'Its owner allowed a number of scans, and all of them have been used.',
  },
  deleted: {
    status: 410,
    code: 'gone',
    title: 'This code is gone',
    text: 'It was deleted by its owner and will not work again.',
  },
  disabled: {
    status: 410,
    code: 'disabled',
    title: 'This link is disabled',
    text: 'The operator of this service has disabled it.',
  },
  busy: {
    status: 503,
    code: 'unavailable',
    title: 'One moment, please',
    text: 'The service is busy. Please try again in a few seconds.',
    headers: { 'retry-after': '2' },
  },
  method: {
    status: 405,
    code: 'method_not_allowed',
    title: 'Method not allowed',
    text: 'A short link accepts only GET and HEAD requests.',
    headers: { allow: 'GET, HEAD' },
  },
} as const satisfies Record<string, Notice>;

/**
 * Why a request for a short link is neither recorded nor redirected: the label of its count in
 * `scanlog_redirects_total`, and the page that it is answered with.
 */
export type Drop = keyof typeof notices;

const dayAndTime = new Intl.DateTimeFormat('en-GB', {
  ...{ day: 'numeric', month: 'long', year: 'numeric', hour: '2-digit', minute: '2-digit', timeZone: 'UTC' },
});

/** The notice for a code that starts at a time. */
export const notStartedUntil = (startsAt: Date): Notice => ({
  ...notices.not_started,
  text: `It starts on ${dayAndTime.format(startsAt)} UTC. Please try again then.`,
});

const commonHeaders = {
  'cache-control': 'private, no-store',
  'x-robots-tag': 'noindex',
  'x-content-type-options': 'nosniff',
};

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeHtml = (text: string) => text.replace(/[&<>"]/g, (char) => entities[char] ?? char);

const page = ({ title, text }: Notice, abuseContact: string | undefined) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>
body { margin: 0; min-height: 100vh; display: grid; place-items: center; font: 1.125rem/1.5 system-ui, sans-serif;
  background: #fafaf9; color: #1c1917 }
main { max-width: 28rem; padding: 2rem; text-align: center }
h1 { font-size: 1.5rem; margin: 0 0 .5rem }
p { margin: 0; color: #57534e }
.contact { margin-top: 1.5rem; font-size: 1rem }
a { color: inherit }
@media (prefers-color-scheme: dark) { body { background: #1c1917; color: #fafaf9 } p { color: #d6d3d1 } }
</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p>${text}</p>${abuseContact === undefined ? '' : `\n<p class="contact"><a href="${escapeHtml(abuseContact)}">Report this link</a></p>`}
</main>
</body>
</html>
`;

const contentSecurityPolicy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

const bodyOf = (notice: Notice, abuseContact: string | undefined) => ({
  html: page(notice, abuseContact),
  json: JSON.stringify({ error: { code: notice.code, message: `${notice.title}. ${notice.text}` } }),
});

// These do not depend on the request, so each is built once.
const bodiesOf = (abuseContact: string | undefined) =>
  new Map(Object.values(notices).map((notice: Notice) => [notice, bodyOf(notice, abuseContact)]));

let linked: string | undefined;
let bodies = bodiesOf(linked);

/** Sets the link "Report this link" of all pages of this process; undefined removes it. */
export function linkAbuseContact(abuseContact: string | undefined): void {
  linked = abuseContact;
  bodies = bodiesOf(abuseContact);
}

/** Returns JSON to clients that accept JSON and not HTML, and a page to all others. */
export function noticeResponse(notice: Notice, headers: Headers): Response {
  const accept = headers.get('accept');
  const wantsJson = accept?.includes('application/json') === true && !accept.includes('text/html');
  const body = bodies.get(notice) ?? bodyOf(notice, linked);
  return new Response(wantsJson ? body.json : body.html, {
    status: notice.status,
    headers: {
      ...commonHeaders,
      ...(wantsJson
        ? { 'content-type': 'application/json; charset=utf-8' }
        : { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': contentSecurityPolicy }),
      ...notice.headers,
      'x-request-id': requestIdOf(headers),
    },
  });
}
