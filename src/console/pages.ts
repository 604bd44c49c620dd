import type { Role } from '../../events/member.ts';
import {
  ownDeviceDays,
  type Session,
  type SessionEnd,
  type SessionUser,
  sessionHours,
} from '../accounts/console-sessions.ts';
import type { Addresses } from '../config/config.ts';
import { escapeHtml } from '../lib/html.ts';
import type { Asset, Bundle } from './bundle.ts';
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

/** What every page is rendered with. */
export interface Page {
  bundle: Bundle;
  theme: Theme | undefined;
}

export const renderDocument = ({ bundle, theme }: Page, title: string, body: string, extraHead = '') => `<!doctype html>
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
  keys: (Pick<Session['keys'][number], 'id' | 'name' | 'mode' | 'last4' | 'scopes'> & { expires_at: string | null })[];
  /** The person who signed in; null for a session with keys. */
  user: SessionUser | null;
  /** What the person may do in the account; owner for keys. */
  role: Role;
  /** The accounts that the person belongs to. */
  accounts: { id: string; name: string; role: Role }[];
  /** How people can sign in again without leaving the page; `provider` is the host of the OpenID provider. */
  ways: { has_passwords: boolean; has_passkeys: boolean; provider: string | null };
  is_own_device: boolean;
  ends_at: string;
  public_url: string;
  short_base_url: string;
  /** Whether no one has chosen a time zone of the account yet. */
  asks_time_zone: boolean;
  frame_font_url: string;
  plot_url: string;
  world_url: string;
  cities_url: string;
}

export const bootstrapOf = (
  { account, keys, user, role, is_own_device, ends_at }: Session,
  { asksTimeZone, accounts, ways }: { asksTimeZone: boolean } & Pick<Bootstrap, 'accounts' | 'ways'>,
  { publicUrl, shortBaseUrl }: Addresses,
  { frameFont, plotScript, world, cities }: Bundle,
): Bootstrap => ({
  account,
  keys: keys.map(({ id, name, mode, last4, scopes, expires_at }) => ({
    id,
    name,
    mode,
    last4,
    scopes,
    expires_at: expires_at?.toISOString() ?? null,
  })),
  user,
  role,
  accounts,
  ways,
  is_own_device,
  ends_at: ends_at.toISOString(),
  public_url: publicUrl,
  short_base_url: shortBaseUrl,
  asks_time_zone: asksTimeZone,
  frame_font_url: frameFont.path,
  plot_url: plotScript.path,
  world_url: world.path,
  cities_url: cities.path,
});

export const moduleScript = ({ path }: Asset) => `\n<script type="module" src="${path}"></script>`;

/** The page that a script of the console renders into. */
export function consolePage(page: Page, bootstrap: Bootstrap, script: Asset): string {
  const body = `<body data-bootstrap="${escapeHtml(JSON.stringify(bootstrap))}">
<div id="console"></div>
<noscript><p class="noscript">The console needs JavaScript. Without it, use the <a href="/swagger">API</a>.</p></noscript>
</body>`;
  return renderDocument(page, 'Scanlog', body, moduleScript(script));
}

/** Reloads itself at once: unlike a link on another site, the reload carries the SameSite=Strict cookie. */
export const reloadPage = (page: Page): string =>
  renderDocument(page, 'Scanlog', '<body></body>', '\n<meta http-equiv="refresh" content="0">');

/**
 * Sends the browser to another site, after a form: browsers follow no redirect of a form to another site, because the policy of
 * our pages forbids it.
 */
export const leavePage = (page: Page, url: string): string =>
  renderDocument(
    page,
    'Signed out · Scanlog',
    `<body class="sign-in">
<main class="stack gap-m">
<h1>You are signed out</h1>
<p><a href="${escapeHtml(url)}">Sign out of ${escapeHtml(new URL(url).host)}, too</a></p>
</main>
</body>`,
    `\n<meta http-equiv="refresh" content="0; url=${escapeHtml(url)}">`,
  );

/** Why a session no longer works, for its user. */
export const sessionEndTexts: Record<SessionEnd, string> = {
  expired: 'Your session has expired.',
  key_revoked: 'The API key of your session was revoked.',
  key_expired: 'The API key of your session has expired.',
  address_not_allowed: 'The API key of your session does not work from your network.',
  ended_elsewhere: 'Your session was ended on another device.',
  person_disabled: 'The operator of this service has disabled your user.',
  not_member: 'You are no longer a member of this account.',
};

export const ownDeviceField = (isChecked: boolean) => `<label class="row nowrap check">
<input type="checkbox" name="own_device" value="1"${isChecked ? ' checked' : ''}>
<span>This is my device<span class="hint">Stay signed in here until you have not used Scanlog for ${ownDeviceDays} days. Otherwise you are signed out after ${sessionHours} hours.</span></span>
</label>`;

/** A document of the folder docs/. */
export const guidePage = (page: Page, { title, html }: { title: string; html: string }): string =>
  renderDocument(
    page,
    `${escapeHtml(title)} · Scanlog`,
    `<body>
<header class="top">
<div class="wrap row">
<a class="row brand" href="/console"><img src="${page.bundle.mark.path}" alt="" width="28" height="28"> <span>Scanlog</span></a>
<nav class="row gap-xs" aria-label="Main">
<a href="/console">Console</a>
<a href="/console/docs/README.md">Guides</a>
<a href="/swagger">API reference</a>
</nav>
</div>
</header>
<main class="wrap guide">
${html}</main>
</body>`,
  );

/**
 * Signs in the device that opened a link of `createSignInLink`. The link's token is in the fragment, which no server,
 * log or link preview receives; the script moves it into the form, and only the user's confirmation uses it up.
 */
export function phonePage(page: Page, error?: string): string {
  const message = error ?? 'This link is incomplete. Scan the code again.';
  const body = `<body class="sign-in">
<main class="stack gap-m">
<img src="${page.bundle.mark.path}" alt="" width="56" height="56">
<h1>Sign in to Scanlog</h1>
<noscript><p>Signing in by a scanned code needs JavaScript. <a href="/console">Sign in with an API key</a> instead.</p></noscript>
<p class="error" id="problem" role="alert"${error === undefined ? ' hidden' : ''}>${escapeHtml(message)}</p>
<form method="post" action="/console/phone" class="card stack gap-m" id="confirm" hidden>
<input type="hidden" name="token" id="token">
<p>Sign in to the account <strong id="account"></strong> on this device?</p>
<p class="hint" id="modes"></p>
${ownDeviceField(true)}
<button class="button primary" type="submit">Sign in</button>
</form>
<p class="foot"><a href="/console">Sign in with an API key</a></p>
</main>
</body>`;
  return renderDocument(page, 'Sign in · Scanlog', body, moduleScript(page.bundle.phoneScript));
}
