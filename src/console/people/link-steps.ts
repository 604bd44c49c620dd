import { statusOf } from '../../api/http/error-status.ts';
import type { Refusal } from '../../lib/errors.ts';
import { type Console, type Handler, htmlResponse, locationOf, type RequestContext } from '../context.ts';
import { openLinkPage } from './link-page.ts';

/** The page of a kind of link. */
export interface LinkStep {
  title: string;
  action: string;
}

/** What a link opens. A token in the query is taken, too, for people who change the address by hand. */
export const linkPage =
  (step: LinkStep): Handler =>
  (console, { request }) => {
    const location = locationOf(request);
    const query = new URLSearchParams(location.includes('?') ? location.slice(location.indexOf('?')) : '');
    return htmlResponse(console, request, 200, (page) =>
      openLinkPage(page, { ...step, token: query.get('token') ?? '' }),
    );
  };

/** Whether a form has only the token of a link: the next page shows what the link does. */
export const isFirstStep = (form: URLSearchParams): boolean => ![...form.keys()].some((name) => name !== 'token');

export const showVoid = (
  console: Console,
  { request }: RequestContext,
  step: LinkStep,
  { code, message }: Refusal,
): Promise<Response> =>
  htmlResponse(console, request, statusOf[code], (page) => openLinkPage(page, { ...step, token: '', error: message }));
