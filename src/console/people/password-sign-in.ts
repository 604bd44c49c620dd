import type { Refusal } from '../../lib/errors.ts';
import { checkPassword } from '../../people/check-password.ts';
import { readDevice } from '../../people/devices.ts';
import { countTry } from '../../people/tries.ts';
import { findUserByEmail, type User } from '../../people/users.ts';
import { type Console, htmlResponse, jsonResponse, peerOf, type RequestContext, wantsJson } from '../context.ts';
import { deviceOf } from '../cookies.ts';
import { safeNext } from '../safe-next.ts';
import { isSameOrigin } from '../same-site.ts';
import { recordOutcome } from '../sign-in-outcome.ts';
import { signInPage } from '../sign-in-page.ts';
import { waysOf } from '../ways.ts';
import { afterPassword } from './after-password.ts';

/** Handles the sign-in form with address and password. */
export async function signInWithPassword(
  console: Console,
  context: RequestContext,
  form: URLSearchParams,
): Promise<Response> {
  const { request } = context;
  const { addresses, signup } = console.service;
  const [email, password] = [form.get('email') ?? '', form.get('password') ?? ''];
  const next = safeNext(form.get('next') ?? '');
  const refuse = async (status: number, message: string, user?: User) => {
    await recordOutcome(
      console,
      context,
      status === 429 ? 'limited' : 'refused',
      user === undefined ? { user: 'unknown' } : { user: user.id },
    );
    if (wantsJson(request)) return jsonResponse(status, { error: { code: 'unauthorized', message } });
    return htmlResponse(console, request, status, (page) =>
      signInPage(page, { next, signup, ways: waysOf(console), email, error: { form: 'password', message } }),
    );
  };
  if (!isSameOrigin(request, addresses.publicUrl))
    return refuse(403, 'This sign-in was started by another site. Enter your own e-mail address and password.');
  if (console.oidc?.settings.isOnly === true) return refuse(403, `People sign in at ${console.oidc.host} only.`);
  const { user, isRight, refusal } = await tryPassword(console, context, email, password);
  if (refusal !== undefined) return refuse(429, 'Too many attempts. Try again in a minute.', user);
  if (user === undefined || !isRight) return refuse(401, 'The e-mail address or the password is wrong.', user);
  return afterPassword(console, context, {
    user: user.id,
    next,
    isOwnDevice: form.has('own_device'),
    account: form.get('account') ?? undefined,
  });
}

interface Tried {
  user: User | undefined;
  isRight: boolean;
  /** If there were too many tries; the password is not looked at then. */
  refusal?: Refusal | undefined;
}

/** Checks a password, within the limits of tries. Neither response nor duration tells whether someone has the address. */
export async function tryPassword(
  { api, service }: Console,
  context: RequestContext,
  email: string,
  password: string,
): Promise<Tried> {
  const { request } = context;
  const { sql, addresses, webhooks } = service;
  const byAddress = await api.admission.byAddress(request, peerOf(context));
  const user = await findUserByEmail(sql, email);
  const device = readDevice(deviceOf(request.headers, addresses.publicUrl));
  const refusal = byAddress.refusal ?? (await countTry(sql, webhooks.box, { email, user, device }));
  if (refusal !== undefined) return { user, isRight: false, refusal };
  return { user, isRight: await checkPassword(user, password) };
}
