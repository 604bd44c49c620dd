import { type Session, sessionHours } from '../accounts/console-sessions.ts';
import type { Bundle } from './bundle.ts';
import type { Theme } from './cookies.ts';

/** Headers of every console page: it runs only its own script and cannot be framed. */
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
  // With a stricter policy, browsers send `Origin: null` with the sign-in form.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'x-robots-tag': 'noindex',
};

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (char) => entities[char] ?? char);

/** What every page is rendered with. */
export interface Page {
  bundle: Bundle;
  theme: Theme | undefined;
}

const renderDocument = ({ bundle, theme }: Page, title: string, body: string, extraHead = '') => `<!doctype html>
<html lang="en"${theme === undefined ? '' : ` data-theme="${theme}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${bundle.mark.path}" type="image/svg+xml">
<link rel="stylesheet" href="${bundle.style.path}">${extraHead}
</head>
${body}
</html>
`;

/** Data that the page passes to the console's script. */
export interface Bootstrap {
  account: Session['account'];
  keys: Session['keys'];
  ends_at: string;
  short_base_url: string;
}

/** The page that the console's script renders into. */
export function consolePage(page: Page, { account, keys, ends_at }: Session, shortBaseUrl: string): string {
  const bootstrap: Bootstrap = { account, keys, ends_at: ends_at.toISOString(), short_base_url: shortBaseUrl };
  const body = `<body data-bootstrap="${escapeHtml(JSON.stringify(bootstrap))}">
<div id="console"></div>
<noscript><p class="noscript">The console needs JavaScript. Without it, use the <a href="/swagger">API</a>.</p></noscript>
</body>`;
  return renderDocument(page, 'Scanlog', body, `\n<script type="module" src="${page.bundle.script.path}"></script>`);
}

/** Reloads itself at once: unlike a link on another site, the reload carries the SameSite=Strict cookie. */
export const reloadPage = (page: Page): string =>
  renderDocument(page, 'Scanlog', '<body></body>', '\n<meta http-equiv="refresh" content="0">');

/** A plain form without script, so that no script can read the key. */
export function signInPage(page: Page, { next, error }: { next: string; error?: string | undefined }): string {
  const alert = error === undefined ? '' : `\n<p class="error" id="error" role="alert">${escapeHtml(error)}</p>`;
  const body = `<body class="sign-in">
<main>
<img src="${page.bundle.mark.path}" alt="" width="56" height="56">
<h1>Sign in to Scanlog</h1>
<p class="lead">Manage your QR codes and see every scan.</p>
<form method="post" action="/console/session" class="card">
<input type="hidden" name="next" value="${escapeHtml(next)}">
<label for="key">API key</label>
<input id="key" name="key" type="password" required autofocus autocomplete="current-password" spellcheck="false"
  placeholder="sk_live_… or sk_test_…" aria-describedby="${error === undefined ? '' : 'error '}hint"${error === undefined ? '' : ' aria-invalid="true"'}>${alert}
<p class="hint" id="hint">You stay signed in for ${sessionHours} hours.</p>
<button class="button primary" type="submit">Sign in</button>
</form>
<details>
<summary>Where do I find my API key?</summary>
<p>The first start of <code>./scanlog up</code> prints a live and a test key. For another account, ask your administrator to run:</p>
<pre><code>./scanlog account create --name "My café" --plan pro</code></pre>
</details>
<p class="foot"><a href="/swagger">API documentation</a></p>
</main>
</body>`;
  return renderDocument(page, 'Sign in · Scanlog', body);
}
