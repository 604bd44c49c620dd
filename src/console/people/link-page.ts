import { escapeHtml } from '../../lib/html.ts';
import { minPasswordLength } from '../../people/password-rules.ts';
import { moduleScript, ownDeviceField, type Page, renderDocument } from '../pages.ts';

/** Pages for people who are not signed in. They work without script; only a link then has to be pasted. */

const frame = (page: Page, title: string, content: string, head = '') =>
  renderDocument(
    page,
    `${title} · Scanlog`,
    `<body class="sign-in">
<main class="stack gap-m">
<img src="${page.bundle.mark.path}" alt="" width="56" height="56">
<h1>${title}</h1>
${content}
<p class="foot"><a href="/console">Sign in</a></p>
</main>
</body>`,
    head,
  );

/** A message without a form. */
export const noticePage = (
  page: Page,
  { title, message, isGood = false }: { title: string; message: string; isGood?: boolean },
): string =>
  frame(
    page,
    title,
    `<p class="row nowrap verdict ${isGood ? 'good" role="status' : 'bad" role="alert'}">${escapeHtml(message)}</p>`,
  );

/** What a link opens: its script sends the token in the fragment, which no server or proxy has logged. */
export const openLinkPage = (
  page: Page,
  { title, action, token, error }: { title: string; action: string; token: string; error?: string | undefined },
): string =>
  frame(
    page,
    title,
    `${alertOf(error)}<form method="post" action="${action}" class="card stack gap-m" id="open">
<label for="token">The part of the link after #</label>
<input id="token" name="token" type="text" required autocomplete="off" spellcheck="false" value="${escapeHtml(token)}">
<button class="button primary" type="submit">Continue</button>
</form>`,
    moduleScript(page.bundle.linkScript),
  );

const alertOf = (error: string | undefined) =>
  error === undefined ? '' : `<p class="error" id="error" role="alert">${escapeHtml(error)}</p>\n`;

export interface Field {
  name: string;
  label: string;
  type: 'text' | 'email' | 'password';
  autocomplete: string;
  value?: string;
  hint?: string;
}

export const nameField: Field = { name: 'name', label: 'Your name', type: 'text', autocomplete: 'name' };
export const emailField: Field = { name: 'email', label: 'E-mail', type: 'email', autocomplete: 'username' };
export const newPasswordField: Field = {
  name: 'password',
  label: 'Password',
  type: 'password',
  autocomplete: 'new-password',
  hint: `At least ${minPasswordLength} characters, and not a common one.`,
};
export const currentPasswordField: Field = {
  name: 'password',
  label: 'Your password',
  type: 'password',
  autocomplete: 'current-password',
};

export interface PersonForm {
  title: string;
  /** HTML above the form. */
  lead: string;
  action: string;
  hidden: Record<string, string>;
  fields: Field[];
  button: string;
  /** Whether the form signs in, on a device that may be the person's own. */
  signsIn?: boolean;
  error?: string | undefined;
}

/** A form of a person who sets up, joins, signs up or sets a password. */
export const personPage = (
  page: Page,
  { title, lead, action, hidden, fields, button, signsIn = true, error }: PersonForm,
): string =>
  frame(
    page,
    title,
    `<p class="lead">${lead}</p>
<form method="post" action="${action}" class="card stack gap-m">
${alertOf(error)}${Object.entries(hidden)
  .map(([name, value]) => `<input type="hidden" name="${name}" value="${escapeHtml(value)}">`)
  .join('\n')}
${fields.map((field, i) => fieldHtml(field, i === 0)).join('\n')}
${signsIn ? `${ownDeviceField(false)}\n` : ''}<button class="button primary" type="submit">${button}</button>
</form>`,
  );

const fieldHtml = (
  { name, label, type, autocomplete, value = '', hint }: Field,
  isFirst: boolean,
) => `<label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="${type}" required${isFirst ? ' autofocus' : ''} autocomplete="${autocomplete}" spellcheck="false"${value === '' ? '' : ` value="${escapeHtml(value)}"`}${hint === undefined ? '' : ` aria-describedby="${name}-hint"`}>${hint === undefined ? '' : `\n<p class="hint" id="${name}-hint">${hint}</p>`}`;
