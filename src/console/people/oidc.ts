import { randomBytes } from 'node:crypto';
import { messageOf, notFound, Refusal } from '../../lib/errors.ts';
import { isId } from '../../lib/ids.ts';
import { requestIdOf } from '../../lib/request-id.ts';
import { findPerson, type PersonRefusal } from '../../people/oidc/find-person.ts';
import { giveRole } from '../../people/oidc/give-role.ts';
import { type Identity, type OidcProvider, ProviderUnavailable, SignInInvalid } from '../../people/oidc/provider.ts';
import { roleOf } from '../../people/oidc/roles.ts';
import { type Console, htmlResponse, locationOf, peerOf, queryOf, type RequestContext } from '../context.ts';
import { noOidcCookie, oidcCookie, oidcStepOf } from '../cookies.ts';
import { safeNext } from '../safe-next.ts';
import { recordOutcome } from '../sign-in-outcome.ts';
import { noticePage } from './link-page.ts';
import { deviceOriginOf } from './origin.ts';
import { startUserSession } from './start-session.ts';

const maxNextLength = 1_000;
const callbackPath = '/console/oidc/callback';
const randomText = () => randomBytes(32).toString('base64url');

function providerOf({ oidc }: Console): OidcProvider {
  if (oidc === undefined) throw notFound('page: this service has no OpenID provider');
  return oidc;
}

/**
 * Sends the browser to the provider, which sends it back to the page `next` of `account`. With `again=1`, the person has to prove
 * there once more who they are.
 */
export async function startOidc(console: Console, context: RequestContext): Promise<Response> {
  const provider = providerOf(console);
  const { publicUrl } = console.service.addresses;
  const query = queryOf(context.request);
  const next = safeNext(query.get('next') ?? '');
  const isAgain = query.get('again') === '1';
  const step = { state: randomText(), nonce: randomText(), verifier: randomText(), isAgain };
  return orExplain(console, context, async () => {
    await requireFewTries(console, context);
    const location = await provider.authorizationUrl(`${publicUrl}${callbackPath}`, step);
    const text = console.steps.begin('oidc', {
      ...step,
      next: next.length > maxNextLength ? '/console' : next,
      account: accountOf(query),
    });
    const headers = { location, 'cache-control': 'no-store', 'set-cookie': oidcCookie(text, publicUrl) };
    return new Response(null, { status: 302, headers });
  });
}

/** Only an id: the step is carried in a cookie. */
function accountOf(query: URLSearchParams): string | undefined {
  const account = query.get('account') ?? '';
  return isId('acct', account) ? account : undefined;
}

/** Signs in the person whom the provider has sent back. */
export async function finishOidc(console: Console, context: RequestContext): Promise<Response> {
  const provider = providerOf(console);
  const { publicUrl } = console.service.addresses;
  const response = await orExplain(console, context, () => finish(console, context, provider));
  response.headers.append('set-cookie', noOidcCookie(publicUrl));
  return response;
}

async function finish(console: Console, context: RequestContext, provider: OidcProvider): Promise<Response> {
  const { request } = context;
  const { addresses } = console.service;
  await requireFewTries(console, context);
  const text = oidcStepOf(request.headers, addresses.publicUrl);
  const step = text === undefined ? undefined : console.steps.read('oidc', text);
  if (text === undefined || step === undefined || !(await console.steps.complete(text))) throw new Unable('expired');
  const identity = await provider.identify(new URL(locationOf(request), addresses.publicUrl), step);
  const user = await findUserOf(console, request.headers, provider, identity);
  const { next, account } = step;
  const provenAt = identity.authenticatedAt;
  return startUserSession(console, context, { user, by: 'oidc', next, isOwnDevice: false, account, provenAt });
}

/** The person of an identity, with the role that the provider's groups give. */
async function findUserOf(
  console: Console,
  headers: Headers,
  { settings }: OidcProvider,
  identity: Identity,
): Promise<string> {
  const { sql, clock } = console.service;
  const { account } = settings;
  const given = roleOf(identity.claims, settings);
  if (given.by === 'groups' && given.role === undefined) throw new Unable('no_role');
  const joining = account === undefined || given.role === undefined ? undefined : { account, role: given.role };
  const origin = deviceOriginOf(console.service, headers);
  const found = await findPerson(sql, identity, { joining, origin });
  if ('refused' in found) throw new Unable(found.refused);
  if (account !== undefined && !(await giveRole(sql, account, found, given, clock())))
    console.log.warn(
      { user: found.user, account },
      'a person stays owner against the groups of the provider: there is no other',
    );
  return found.user;
}

type Reason = PersonRefusal | 'limited' | 'expired' | 'no_role';

/** A person cannot sign in for a reason that is no error of the provider. */
class Unable extends Error {
  readonly reason: Reason;

  constructor(reason: Reason) {
    super(reason);
    this.reason = reason;
  }
}

const texts: Record<Reason, { status: number; message: string }> = {
  limited: { status: 429, message: 'Too many attempts. Try again in a minute.' },
  expired: { status: 400, message: 'This sign-in took too long, or was completed already. Start again.' },
  no_role: {
    status: 403,
    message: 'None of your groups gives you access to this service. Ask the person who manages your groups.',
  },
  email_not_verified: {
    status: 403,
    message:
      'There is a person with your e-mail address, but your provider has not verified that it is yours. Have it verified there, or sign in with your password.',
  },
  other_identity: {
    status: 403,
    message:
      'The person with your e-mail address signs in with another identity of your provider. Ask the operator of this service.',
  },
  unknown: { status: 403, message: 'You are not known here. Ask the owner of an account to invite you.' },
  no_email: { status: 403, message: 'Your provider sent no valid e-mail address, which a new person needs.' },
};

async function requireFewTries({ api }: Console, context: RequestContext): Promise<void> {
  const { refusal } = await api.admission.byAddress(context.request, peerOf(context));
  if (refusal !== undefined) throw new Unable('limited');
}

/** Shows a page for whatever keeps a person from signing in at the provider; the operator finds the cause in the log. */
async function orExplain(console: Console, context: RequestContext, work: () => Promise<Response>): Promise<Response> {
  try {
    return await work();
  } catch (error) {
    const explained = explanationOf(error, console.oidc?.host ?? '');
    if (explained === undefined) throw error;
    const { status, message } = explained;
    console.log.warn(
      { request_id: requestIdOf(context.request.headers), reason: messageOf(error) },
      'sign-in at the OpenID provider failed',
    );
    await recordOutcome(console, context, status === 429 ? 'limited' : 'refused', { user: 'unknown', by: 'oidc' });
    return htmlResponse(console, context.request, status, (page) =>
      noticePage(page, { title: 'You are not signed in', message }),
    );
  }
}

function explanationOf(error: unknown, host: string): { status: number; message: string } | undefined {
  if (error instanceof Unable) return texts[error.reason];
  if (error instanceof ProviderUnavailable)
    return {
      status: 503,
      message: `${host} does not answer as it should, so you cannot sign in there now. Try again in a moment.`,
    };
  if (error instanceof SignInInvalid)
    return error.isRefused
      ? {
          status: 403,
          message: `${host} ended the sign-in. Start again, or ask the person who manages your access there.`,
        }
      : {
          status: 400,
          message: `The response of ${host} is not valid. Start again; if it stays so, ask the operator of this service.`,
        };
  if (error instanceof Refusal && error.code === 'not_found')
    return { status: 503, message: 'The account of OIDC_ACCOUNT does not exist: ask the operator of this service.' };
  return error instanceof Refusal && error.code === 'quota_exceeded'
    ? { status: 403, message: error.message }
    : undefined;
}

/** Where a browser whose session was opened by the provider ends its session there, too; undefined if it cannot. */
export async function providerSignOut({ oidc, service, log }: Console): Promise<string | undefined> {
  try {
    return await oidc?.signOutUrl(`${service.addresses.publicUrl}/console`);
  } catch (error) {
    log.warn({ reason: messageOf(error) }, 'the session at the OpenID provider cannot be ended');
    return undefined;
  }
}
