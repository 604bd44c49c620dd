import { acceptedTags } from '../../events/targeting/languages.ts';
import { requestIdOf } from '../lib/request-id.ts';
import { type DropName, en, type FormName, type NoticeName, noticeTexts } from './notice-texts.ts';
import { passwordTexts, en as passwordWords } from './password-texts.ts';
import { rootTexts } from './root-texts.ts';

/** The response to a scan that cannot be redirected. */
export interface Notice {
  status: 200 | 403 | 404 | 405 | 410 | 429 | 503;
  code: string;
  name: NoticeName;
  /** Of a code that is scheduled. */
  startsAt?: Date;
  headers?: Record<string, string>;
}

export const notices = {
  unknown: { name: 'unknown', status: 404, code: 'not_found' },
  paused: { name: 'paused', status: 404, code: 'not_found' },
  draft: { name: 'draft', status: 404, code: 'not_found' },
  not_started: { name: 'not_started', status: 404, code: 'not_started' },
  expired: { name: 'expired', status: 404, code: 'expired' },
  limit_reached: { name: 'limit_reached', status: 404, code: 'limit_reached' },
  deleted: { name: 'deleted', status: 410, code: 'gone' },
  disabled: { name: 'disabled', status: 410, code: 'disabled' },
  busy: { name: 'busy', status: 503, code: 'unavailable', headers: { 'retry-after': '2' } },
  password: { name: 'password', status: 403, code: 'password_required' },
  wrong_password: { name: 'wrong_password', status: 403, code: 'wrong_password' },
  too_many_tries: { name: 'too_many_tries', status: 429, code: 'rate_limited', headers: { 'retry-after': '60' } },
  method: { name: 'method', status: 405, code: 'method_not_allowed', headers: { allow: 'GET, HEAD' } },
} as const satisfies { [Name in DropName]: Notice & { name: Name } };

/** What a custom domain answers at its root. */
export const rootNotice: Notice = { name: 'root', status: 200, code: 'ok' };

/**
 * What ends a request for a short link that is neither recorded nor redirected: the notice that it is answered with. Its
 * name is the reason, and the label of its count in `scanlog_redirects_total`.
 */
export type Drop<Reason extends DropName = DropName> = Notice & { name: Reason };

/** What a page shows of the account of a code. */
export interface Brand {
  name: string;
  /** A `data:` URL. */
  imageUrl: string | undefined;
}

/** The notice for a code that starts at a time. */
export const notStartedUntil = (startsAt: Date): Drop<'not_started'> => ({ ...notices.not_started, startsAt });

const fallbackLanguage = 'en';

/** The first language of a guest that we have words for. */
const languageOf = (headers: Headers): string =>
  acceptedTags(headers.get('accept-language') ?? '').find((tag) => Object.hasOwn(noticeTexts, tag)) ?? fallbackLanguage;

const isForm = (name: NoticeName): name is FormName => formNames.has(name);
const formNames: ReadonlySet<string> = new Set<FormName>(['password', 'wrong_password', 'too_many_tries']);

const textsIn = (language: string) => noticeTexts[language] ?? en;

function wordsOf({ name, startsAt }: Notice, language: string): { title: string; text: string } {
  if (name === 'root') {
    const [title = '', text = ''] = rootTexts[language] ?? rootTexts[fallbackLanguage] ?? [];
    return { title, text };
  }
  if (isForm(name)) {
    const { title, text, wrong, tooMany } = passwordTexts[language] ?? passwordWords;
    return { title, text: { password: text, wrong_password: wrong, too_many_tries: tooMany }[name] };
  }
  const texts = textsIn(language);
  const [title, text] = texts[name];
  return { title, text: startsAt === undefined ? text : texts.startsOn.replace('%', timeIn(language, startsAt)) };
}

const timeIn = (language: string, time: Date) =>
  new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : language, {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZone: 'UTC',
  }).format(time);

const commonHeaders = {
  'cache-control': 'private, no-store',
  'x-robots-tag': 'noindex',
  'x-content-type-options': 'nosniff',
  vary: 'accept, accept-language',
};

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeHtml = (text: string) => text.replace(/[&<>"]/g, (char) => entities[char] ?? char);

function brandOf({ name, imageUrl }: Brand): string {
  const image = imageUrl === undefined ? '' : `<img src="${imageUrl}" alt="">`;
  return `<p class="brand">${image}<bdi dir="auto">${escapeHtml(name)}</bdi></p>\n`;
}

/** Sends the password to the same URL, without a script. */
function formOf(language: string): string {
  const { label, open } = passwordTexts[language] ?? passwordWords;
  return `
<form method="post">
<label for="password">${label}</label>
<input id="password" name="password" type="password" maxlength="128" autocomplete="off" aria-describedby="text" required autofocus>
<button>${open}</button>
</form>`;
}

function page(notice: Notice, language: string, brand?: Brand): string {
  const { title, text } = wordsOf(notice, language);
  const form = isForm(notice.name) ? formOf(language) : '';
  const role = notice.name === 'wrong_password' || notice.name === 'too_many_tries' ? ' role="alert"' : '';
  const { report, direction } = textsIn(language);
  const contact = linked === undefined ? '' : `\n<p class="contact"><a href="${escapeHtml(linked)}">${report}</a></p>`;
  return `<!doctype html>
<html lang="${language}"${direction === undefined ? '' : ` dir="${direction}"`}>
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
.brand { margin-bottom: 2rem; font-weight: 600; overflow-wrap: anywhere }
.brand img { display: block; max-width: 10rem; max-height: 6rem; margin: 0 auto .75rem }
a { color: inherit }
form { display: grid; gap: .5rem; margin-top: 1.5rem; text-align: start }
input, button { font: inherit; padding: .6rem .75rem; border: 1px solid #78716c; border-radius: .5rem }
input { background: transparent; color: inherit }
button { background: #1c1917; color: #fafaf9; cursor: pointer }
:focus-visible { outline: 3px solid #2563eb; outline-offset: 2px }
@media (prefers-color-scheme: dark) { body { background: #1c1917; color: #fafaf9 } p { color: #d6d3d1 }
  button { background: #fafaf9; color: #1c1917 } :focus-visible { outline-color: #93c5fd } }
</style>
</head>
<body>
<main>
${brand === undefined ? '' : brandOf(brand)}<h1>${title}</h1>
<p id="text"${role}>${text}</p>${form}${contact}
</main>
</body>
</html>
`;
}

const contentSecurityPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'";

let linked: string | undefined;
/** Pages that depend on neither code nor account, by notice and language: each is built once. */
const pages = new Map<string, string>();

/** Sets the link "Report this link" of all pages of this process; undefined removes it. */
export function linkAbuseContact(abuseContact: string | undefined): void {
  linked = abuseContact;
  pages.clear();
}

function pageFor(notice: Notice, language: string, brand: Brand | undefined): string {
  if (notice.startsAt !== undefined || brand !== undefined) return page(notice, language, brand);
  return pages.getOrInsertComputed(`${notice.name} ${language}`, () => page(notice, language));
}

/** For programs: in English, as the responses of the API are. */
function jsonOf(notice: Notice): string {
  const { title, text } = wordsOf(notice, fallbackLanguage);
  return JSON.stringify({ error: { code: notice.code, message: `${title}. ${text}` } });
}

/** Returns JSON to clients that accept JSON and not HTML, and a page in the guest's language to all others. */
export function noticeResponse(notice: Notice, headers: Headers, brand?: Brand): Response {
  const accept = headers.get('accept');
  const isError = notice.status !== 200;
  const wantsJson = isError && accept?.includes('application/json') === true && !accept.includes('text/html');
  return new Response(wantsJson ? jsonOf(notice) : pageFor(notice, languageOf(headers), brand), {
    // A page that asks for something is no error.
    status: notice.name === 'password' && !wantsJson ? 200 : notice.status,
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
