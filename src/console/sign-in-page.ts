import type { SessionEnd } from '../accounts/console-sessions.ts';
import type { Signup } from '../config/settings.ts';
import { escapeHtml } from '../lib/html.ts';
import { ownDeviceField, type Page, renderDocument, sessionEndTexts } from './pages.ts';
import type { Ways } from './ways.ts';

interface SignInForm {
  next: string;
  signup: Signup;
  ways: Ways;
  /** The address that was given. */
  email?: string;
  error?: { form: 'password' | 'key'; message: string } | undefined;
  /** Why the user has to sign in again. */
  ended?: SessionEnd | undefined;
}

/** Two plain forms without script, so that no script can read the password or the key. */
export function signInPage(page: Page, { next, signup, ways, email = '', error, ended }: SignInForm): string {
  const problemOf = (form: 'password' | 'key') => (error?.form === form ? error.message : undefined);
  const alertOf = (form: 'password' | 'key') => {
    const problem = problemOf(form);
    return problem === undefined ? '' : `\n<p class="error" id="error" role="alert">${escapeHtml(problem)}</p>`;
  };
  const invalidOf = (form: 'password' | 'key') =>
    problemOf(form) === undefined ? '' : ' aria-describedby="error" aria-invalid="true"';
  const notice =
    ended === undefined
      ? ''
      : `\n<p class="row nowrap verdict bad" role="status">${sessionEndTexts[ended]} Sign in again.</p>`;
  const hidden = `<input type="hidden" name="next" value="${escapeHtml(next)}">`;
  const isKeyForm = error?.form === 'key';
  const passwordForm = `<form method="post" action="/console/session" class="card stack gap-m">
${hidden}
<label for="email">E-mail</label>
<input id="email" name="email" type="email" required${isKeyForm ? '' : ' autofocus'} autocomplete="username" spellcheck="false" value="${escapeHtml(email)}"${invalidOf('password')}>
<label for="password">Password</label>
<input id="password" name="password" type="password" required autocomplete="current-password"${invalidOf('password')}>${alertOf('password')}
${ownDeviceField(false)}
<button class="button primary" type="submit">Sign in</button>${ways.mailsLinks ? '\n<p class="hint"><a href="/console/forgot">Forgot your password?</a></p>' : ''}
</form>\n`;
  const body = `<body class="sign-in">
<main class="stack gap-m">
<img src="${page.bundle.mark.path}" alt="" width="56" height="56">
<h1>Sign in to Scanlog</h1>
<p class="lead">Manage your QR codes and see every scan.</p>${notice}
${ways.hasPasswords ? passwordForm : alertOf('password')}${otherWays(ways, next)}${signup === 'open' && ways.hasPasswords ? '\n<p class="hint">New here? <a href="/console/sign-up">Create an account</a></p>' : ''}
<details${isKeyForm ? ' open' : ''}>
<summary>Sign in with an API key</summary>
<form method="post" action="/console/session" class="card stack gap-m">
${hidden}
<label for="key">API key</label>
<input id="key" name="key" type="password" required${isKeyForm ? ' autofocus' : ''} autocomplete="off" spellcheck="false"
  placeholder="sk_live_… or sk_test_…"${invalidOf('key')}>${alertOf('key')}
${ownDeviceField(false)}
<button class="button primary" type="submit">Sign in with the key</button>
</form>
</details>
<details>
<summary>I have no password, or forgot it</summary>
<p>Ask an owner of your account for an invitation, or the operator of this service for a link. The operator runs one of:</p>
<pre><code>./scanlog user invite ana@example.com --account acct_… --role owner
./scanlog user reset ana@example.com</code></pre>
<p>The first start of <code>./scanlog up</code> prints a link that creates the first user. Your codes keep working meanwhile.</p>
</details>
<details>
<summary>I lost my API key</summary>
<p>No one can show it again: Scanlog keeps only a hash of it. Where you are still signed in, create another key under <strong>Account, API keys</strong>, and revoke the lost one. Otherwise ask the operator of this service to run:</p>
<pre><code>./scanlog account key acct_…</code></pre>
</details>
<p class="row gap-l foot"><a href="/console/docs/README.md">Guides</a> <a href="/swagger">API reference</a></p>
</main>
</body>`;
  return renderDocument(page, 'Sign in · Scanlog', body);
}

/** Links, because the policy of our pages forbids that a form leads to another site, and because no script runs here. */
function otherWays({ provider, hasPasswords, hasPasskeys }: Ways, next: string): string {
  const query = `next=${encodeURIComponent(next)}`;
  const links = [
    ...(provider === undefined
      ? []
      : [
          `<a class="button${hasPasswords ? '' : ' primary'}" href="/console/oidc/start?${query}">Sign in with ${escapeHtml(provider)}</a>`,
        ]),
    ...(hasPasskeys ? [`<a class="button" href="/console/passkey?${query}">Sign in with a passkey</a>`] : []),
  ];
  return links.length === 0 ? '' : `<p class="stack gap-s">${links.join('')}</p>`;
}
