import { unlimited } from '../../../events/key.ts';
import { type Admission, admitted, type Caller, countInWindow } from '../../accounts/admission.ts';
import { hashOfKey } from '../../accounts/keys.ts';
import { Refusal } from '../../lib/errors.ts';
import type { Console } from '../context.ts';
import { requireOperator } from '../people/operator.ts';
import { isSameOrigin, needsCorsPreflight } from '../same-site.ts';

/** Of one operator, in all accounts. */
const readsPerMinute = 600;
const changesPerMinute = 120;

/**
 * Admits sessions of people who are operators of the service, and rejects requests that other sites caused. The account of the
 * session does not matter: it may be suspended, and the operator may only read in it.
 */
export function operatorAdmission(console: Console) {
  const { service, api, sessionUse } = console;
  const { sql, addresses } = service;

  async function admit(request: Request, isChange: boolean): Promise<Admission> {
    const { user, session, token, isProven } = await requireOperator(console, request.headers);
    sessionUse.note(hashOfKey(token));
    const { id: account, plan } = session.account;
    const caller: Caller = {
      ...unlimited,
      account,
      plan,
      mode: 'live',
      key: null,
      actor: user,
      user,
      role: 'owner',
      session: session.id,
      isProven,
    };
    const window = await countInWindow(sql, `${user}/${isChange ? 'changes' : 'reads'}`);
    return admitted(isChange ? changesPerMinute : readsPerMinute, window, caller);
  }

  return async (request: Request, peer: string): Promise<Admission> => {
    const isChange = request.method !== 'GET' && request.method !== 'HEAD';
    try {
      if (!isSameOrigin(request, addresses.publicUrl) || (isChange && !needsCorsPreflight(request)))
        throw new Refusal('unauthorized', 'This request did not come from the console.');
      return await admit(request, isChange);
    } catch (refusal) {
      if (!(refusal instanceof Refusal)) throw refusal;
      const unauthenticated = await api.admission.byAddress(request, peer);
      return { refusal, ...unauthenticated };
    }
  };
}
