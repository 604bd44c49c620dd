import type { Elysia } from 'elysia';
import { findRecipient, type Recipient, setSubscribed } from '../accounts/mail-recipients.ts';
import { noticeResponse, notices } from '../edge/pages.ts';
import { escapeHtml } from '../lib/html.ts';
import type { Logger } from '../lib/logger.ts';
import { requestIdOf } from '../lib/request-id.ts';
import { languageOf, textsIn } from '../texts/in-language.ts';
import { readForm } from './http/form.ts';
import { refusalOf, refusalResponse } from './http/responses.ts';
import type { Context } from './http/traced.ts';
import type { Service } from './service.ts';

interface UnsubscribeServer {
  service: Pick<Service, 'sql' | 'clock'>;
  log: Logger;
  isReady(): boolean;
}

type UnsubscribeContext = Pick<Context, 'request'> & { params: { token: string | null } };

/**
 * Serves the pages by which recipients of reports and alerts unsubscribe, without signing in. A GET changes nothing, because programs
 * that check mails follow links; the button of a mail program sends the POST of RFC 8058.
 */
export function serveUnsubscribing(app: Elysia, { service, log, isReady }: UnsubscribeServer): void {
  const { sql, clock } = service;

  async function answer(request: Request, token: string): Promise<Response> {
    const recipient = /^[0-9A-Za-z]{52}$/.test(token) ? await findRecipient(sql, token) : undefined;
    const language = languageOf(request.headers);
    if (recipient === undefined) return htmlResponse(404, missingPage(language));
    if (request.method !== 'POST')
      return htmlResponse(200, pageOf(recipient, recipient.unsubscribed_at === null, language));
    const isSubscribed = (await readForm(request)).get('subscribe') === 'yes';
    await setSubscribed(sql, token, isSubscribed, clock());
    return htmlResponse(200, pageOf(recipient, isSubscribed, language));
  }

  const respond = async ({ request, params }: UnsubscribeContext): Promise<Response> => {
    try {
      if (!isReady()) return noticeResponse(notices.busy, request.headers);
      return await answer(request, params.token ?? '');
    } catch (error) {
      const refusal = refusalOf(error, log.child({ request_id: requestIdOf(request.headers) }));
      if (refusal.code === 'unavailable') return noticeResponse(notices.busy, request.headers);
      const { status, body } = refusalResponse(refusal);
      return new Response(body, { status, headers: { ...headers, 'content-type': 'application/json; charset=utf-8' } });
    }
  };
  const unparsed = { parse: 'none' } as const;
  app.get('/u/:token', respond, unparsed);
  app.route('HEAD', '/u/:token', respond, unparsed);
  app.post('/u/:token', respond, unparsed);
}

const headers = {
  'cache-control': 'private, no-store',
  'x-robots-tag': 'noindex, nofollow',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  vary: 'accept-language',
};

const htmlResponse = (status: number, page: string) =>
  new Response(page, {
    status,
    headers: {
      ...headers,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    },
  });

const style = `
:root { color-scheme: light dark }
body { margin: 0; font: 1rem/1.5 system-ui, sans-serif; background: light-dark(#fafaf9, #1c1917); color: light-dark(#1c1917, #fafaf9) }
main { max-width: 34rem; margin: 0 auto; padding: 3rem 1rem }
h1 { font-size: 1.5rem; margin: 0 0 .5rem; overflow-wrap: anywhere }
p { overflow-wrap: anywhere }
button { font: inherit; font-weight: 600; padding: .5rem 1rem; border: 0; border-radius: .5rem; cursor: pointer;
  background: light-dark(#0f766e, #5eead4); color: light-dark(#fafaf9, #1c1917) }`;

const documentOf = (language: string, title: string, body: string): string => `<!doctype html>
<html lang="${language}" dir="${textsIn(language).direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
${body}
</main>
</body>
</html>
`;

function missingPage(language: string): string {
  const [title, text] = textsIn(language).unsubscribe.missing;
  return documentOf(language, title, `<p>${escapeHtml(text)}</p>`);
}

/** Neither mails nor their recipients are hidden from who has the link: only the recipient has it. */
function pageOf({ email, name }: Recipient, isSubscribed: boolean, language: string): string {
  const words = textsIn(language).unsubscribe;
  return isSubscribed
    ? documentOf(
        language,
        words.unsubscribe,
        `<p>${escapeHtml(words.isMailed(name, email))}</p>
<form method="post"><button>${words.unsubscribe}</button></form>`,
      )
    : documentOf(
        language,
        words.isUnsubscribed,
        `<p role="status">${escapeHtml(words.isNotMailed(name, email))}</p>
<form method="post"><input type="hidden" name="subscribe" value="yes"><button>${words.subscribeAgain}</button></form>`,
      );
}
