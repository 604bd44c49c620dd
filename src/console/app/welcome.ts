import { useEffect, useState } from 'preact/hooks';
import type { Bootstrap } from '../pages.ts';

/** Account, keys and settings that the server embedded in the page. */
export const bootstrap: Bootstrap = JSON.parse(document.body.dataset['bootstrap'] ?? '{}');

export const keyOf = (mode: 'live' | 'test') => bootstrap.keys.find((key) => key.mode === mode);

/** The time zone of every day and time that the console shows, of schedules and of new rules. */
export const accountTimeZone = () => bootstrap.account.timezone;

const listeners = new Set<(timezone: string) => void>();

/** Called when the time zone of the account was chosen. */
export function setAccountTimeZone(timezone: string): void {
  bootstrap.account.timezone = timezone;
  bootstrap.asks_time_zone = false;
  for (const listener of listeners) listener(timezone);
}

/** `accountTimeZone`, for a component that renders again when it changes. */
export function useAccountTimeZone(): string {
  const [timezone, setTimezone] = useState(accountTimeZone);
  useEffect(() => {
    listeners.add(setTimezone);
    return () => void listeners.delete(setTimezone);
  }, []);
  return timezone;
}

export const markUrl = document.querySelector<HTMLLinkElement>('link[rel=icon]')?.href ?? '';
