import type { Bootstrap } from '../pages.ts';

/** Account, keys and settings that the server embedded in the page. */
export const bootstrap: Bootstrap = JSON.parse(document.body.dataset['bootstrap'] ?? '{}');

export const keyOf = (mode: 'live' | 'test') => bootstrap.keys.find((key) => key.mode === mode);

/** The time zone of rules, schedules and analytics. */
export const accountTimeZone = () => bootstrap.account.timezone;

export const markUrl = document.querySelector<HTMLLinkElement>('link[rel=icon]')?.href ?? '';
