import type { Bundle } from './bundle.ts';
import type { Theme } from './cookies.ts';
import { type Session, sessionHours } from './sessions.ts';

/** What every page of the console is sent with: it runs its own script and nothing else, and is framed by nobody. */
export const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  // The origin of a form is told only where the referrer may be.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'x-robots-tag': 'noindex',
};

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escaped = (text: string) => text.replace(/[&<>"']/g, (char) => entities[char] ?? char);

/** What every page is made with. */
export interface Page {
  bundle: Bundle;
  theme: Theme | undefined;
}

const document = ({ bundle, theme }: Page, title: string, body: string, more = '') => `<!doctype html>
<html lang="en"${theme === undefined ? '' : ` data-theme="${theme}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${bundle.mark.path}" type="image/svg+xml">
<link rel="stylesheet" href="${bundle.style.path}">${more}
</head>
${body}
</html>
`;

/** What the script learns from the page that it is loaded by. */
export interface Welcome {
  account: Session['account'];
  keys: Session['keys'];
  ends_at: string;
  short_base_url: string;
}

/** The page that the script fills. */
export function consolePage(page: Page, { account, keys, ends_at }: Session, shortBaseUrl: string): string {
  const welcome: Welcome = { account, keys, ends_at: ends_at.toISOString(), short_base_url: shortBaseUrl };
  const body = `<body data-welcome="${escaped(JSON.stringify(welcome))}">
<div id="console"></div>
<noscript><p class="noscript">The console needs JavaScript. Everything it does, the API does too: see <a href="/swagger">its documentation</a>.</p></noscript>
</body>`;
  return document(page, 'Scanlog', body, `\n<script type="module" src="${page.bundle.script.path}"></script>`);
}

/** Loads itself again at once, now as a page of ours. */
export const comeAgainPage = (page: Page): string =>
  document(page, 'Scanlog', '<body></body>', '\n<meta http-equiv="refresh" content="0">');

/** Signing in is a plain form: no script ever sees the key. */
export function signInPage(page: Page, { next, fault }: { next: string; fault?: string | undefined }): string {
  const told = fault === undefined ? '' : `\n<p class="fault" id="fault" role="alert">${escaped(fault)}</p>`;
  const body = `<body class="sign-in">
<main>
<img src="${page.bundle.mark.path}" alt="" width="56" height="56">
<h1>Sign in to Scanlog</h1>
<p class="lead">Your QR codes, where they lead, and who scans them.</p>
<form method="post" action="/console/session" class="card">
<input type="hidden" name="next" value="${escaped(next)}">
<label for="key">API key</label>
<input id="key" name="key" type="password" required autofocus autocomplete="current-password" spellcheck="false"
  placeholder="sk_live_… or sk_test_…" aria-describedby="${fault === undefined ? '' : 'fault '}hint"${fault === undefined ? '' : ' aria-invalid="true"'}>${told}
<p class="hint" id="hint">It stays between you and the server, and you stay signed in for ${sessionHours} hours.</p>
<button class="button primary" type="submit">Sign in</button>
</form>
<details>
<summary>Where do I find a key?</summary>
<p>The first start of <code>./scanlog up</code> prints two. Whoever runs the service can make an account with two more:</p>
<pre><code>./scanlog account create --name "My café" --plan pro</code></pre>
</details>
<p class="foot"><a href="/swagger">API documentation</a></p>
</main>
</body>`;
  return document(page, 'Sign in · Scanlog', body);
}
