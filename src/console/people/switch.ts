import { readForm } from '../../api/http/form.ts';
import { Refusal } from '../../lib/errors.ts';
import { switchAccount } from '../../people/sessions.ts';
import { type Console, jsonResponse, type RequestContext, redirect, wantsJson } from '../context.ts';
import { isSameOrigin } from '../same-site.ts';
import { ownSession } from '../sessions.ts';

/** Moves the session to another account of the person. Pages of the old account then ask to be reloaded. */
export async function handleSwitch(console: Console, { request }: RequestContext): Promise<Response> {
  const { sql, addresses } = console.service;
  const form = await readForm(request);
  if (!isSameOrigin(request, addresses.publicUrl)) return redirect('/console');
  const { token } = await ownSession(console, request.headers);
  const account = form.get('account') ?? '';
  if (!(await switchAccount(sql, token, account)))
    throw new Refusal('not_found', 'You are not a member of this account.');
  return wantsJson(request) ? jsonResponse(200, { account }) : redirect('/console');
}
