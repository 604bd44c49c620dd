import { useLayoutEffect, useState } from 'preact/hooks';
import type { Bootstrap } from '../pages.ts';
import type { Mode } from './router.ts';
import { bootstrap } from './welcome.ts';

/** Why this page can no longer work: its session ended, or the browser is signed in to another account. */
export interface Loss {
  kind: 'ended' | 'other_account';
  message: string;
}

let loss: Loss | undefined;
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
  if (loss !== undefined) setLoss(undefined);
}

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
export type Credentials = { key: string; mode: Mode } | { email: string; password: string };

/** Signs in to the page's account without leaving the page. Returns the error to show. */
export async function signIn(credentials: Credentials, isOwnDevice: boolean): Promise<string | undefined> {
  const form = new URLSearchParams({ ...credentials, account: bootstrap.account.id });
  if (isOwnDevice) form.set('own_device', '1');
  try {
    const response = await fetch('/console/session', {
      method: 'POST',
      headers: { accept: 'application/json' },
      body: form,
    });
    const body = await response.json();
    if (!response.ok) return body.error.message;
    Object.assign(bootstrap, body as Bootstrap);
    return undefined;
  } catch {
    return 'Cannot reach the service. Check your connection.';
  }
}
