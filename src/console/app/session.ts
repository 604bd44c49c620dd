import { useLayoutEffect, useState } from 'preact/hooks';
import type { Bootstrap } from '../pages.ts';
import type { Mode } from './router.ts';
import type { PasskeyResponse } from './webauthn.ts';
import { bootstrap } from './welcome.ts';

/** Why this page can no longer work: its session ended, or the browser is signed in to another account. */
export interface Loss {
  kind: 'ended' | 'other_account';
  message: string;
}

let loss: Loss | undefined;
let signIns = 0;
const listeners = new Set<() => void>();

function setLoss(next: Loss | undefined): void {
  loss = next;
  for (const listener of [...listeners]) listener();
}

/** Called with every response that says so. */
export function loseSession(kind: Loss['kind'], message: string): void {
  // The cookie of such a session expires with it, so the server cannot tell.
  const isExpired = kind === 'ended' && !bootstrap.is_own_device && Date.now() >= Date.parse(bootstrap.ends_at);
  setLoss({ kind, message: isExpired ? 'Your session has expired. Sign in again.' : message });
}

export function restoreSession(): void {
  signIns++;
  if (loss !== undefined) setLoss(undefined);
}

/** Changes with each sign-in: a response that arrives after one may be about the session before. */
export const currentSession = (): number => signIns;

/** Resolves when the session is restored; rejects when `signal` aborts. */
export function sessionRestored(signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (done: () => void) => {
      listeners.delete(check);
      done();
    };
    const check = () => {
      if (loss === undefined) settle(resolve);
    };
    listeners.add(check);
    signal?.addEventListener('abort', () => settle(() => reject(signal.reason)));
    check();
  });
}

export function useLoss(): Loss | undefined {
  const [current, setCurrent] = useState(loss);
  useLayoutEffect(() => {
    const update = () => setCurrent(loss);
    listeners.add(update);
    return () => void listeners.delete(update);
  }, []);
  return current;
}

/** A key of the mode that the page is in, or the password of the person. */
type Credentials = { key: string; mode: Mode } | { email: string; password: string };

/** The person is signed in, is asked for a one-time code of the step, or sees the problem. */
export type SignInOutcome =
  | { isSignedIn: true }
  | { step: string }
  /** `isOver`: the step has ended, and the sign-in begins again. */
  | { problem: string; isOver: boolean };

/** Signs in to the page's account without leaving the page. */
export const signIn = (credentials: Credentials, isOwnDevice: boolean): Promise<SignInOutcome> =>
  send('/console/session', { ...credentials, ...target(isOwnDevice) });

/** The response of a passkey of the page's person. */
export const signInWithPasskey = (user: string, { step, response }: PasskeyResponse, isOwnDevice: boolean) =>
  send('/console/passkey', { user, step, response, ...target(isOwnDevice) });

/** The second step of a sign-in with the password. */
export const enterCode = (step: string, code: string): Promise<SignInOutcome> => send('/console/code', { step, code });

const target = (isOwnDevice: boolean): Record<string, string> =>
  Object.assign({ account: bootstrap.account.id }, isOwnDevice ? { own_device: '1' } : {});

async function send(path: string, fields: Record<string, string>): Promise<SignInOutcome> {
  try {
    const response = await fetch(path, {
      method: 'POST',
      headers: { accept: 'application/json' },
      body: new URLSearchParams(fields),
    });
    const body = await response.json();
    if (!response.ok) return { problem: body.error.message, isOver: body.error.code === 'step_over' };
    if ('step' in body) return { step: body.step };
    Object.assign(bootstrap, body as Bootstrap);
    signIns++;
    return { isSignedIn: true };
  } catch {
    return { problem: 'Cannot reach the service. Check your connection.', isOver: false };
  }
}
