import { useLayoutEffect, useState } from 'preact/hooks';
import type { Bootstrap } from '../pages.ts';

/** Account, person or keys, and settings that the server embedded in the page. */
export const bootstrap: Bootstrap = JSON.parse(document.body.dataset['bootstrap'] ?? '{}');

export const keyOf = (mode: 'live' | 'test') => bootstrap.keys.find((key) => key.mode === mode);

/** Whether the session can be used in the mode: a person's session has both. */
export const hasMode = (mode: 'live' | 'test') => bootstrap.user !== null || keyOf(mode) !== undefined;

/** The time zone of every day and time that the console shows, of schedules and of new rules. */
export const accountTimeZone = () => bootstrap.account.timezone;

const listeners = new Set<() => void>();
function notifyListeners(): void {
  for (const listener of listeners) listener();
}

/** Called when the time zone of the account was chosen. */
export function setAccountTimeZone(timezone: string): void {
  bootstrap.account.timezone = timezone;
  bootstrap.asks_time_zone = false;
  notifyListeners();
}

/** Called when the person of the session has changed their own data. */
export function updateUser({
  name,
  email,
  has_password,
}: {
  name: string;
  email: string;
  has_password: boolean;
}): void {
  if (bootstrap.user !== null) Object.assign(bootstrap.user, { name, email, has_password });
  notifyListeners();
}

/** Renders the component again when the time zone or the person's data changed. */
export function useBootstrapChanges(): void {
  const [, setCount] = useState(0);
  useLayoutEffect(() => {
    const renderAgain = () => setCount((count) => count + 1);
    listeners.add(renderAgain);
    return () => void listeners.delete(renderAgain);
  }, []);
}

export const markUrl = document.querySelector<HTMLLinkElement>('link[rel=icon]')?.href ?? '';
