import type { Bootstrap } from '../pages.ts';

/** Who is signed in, as the page told us. */
export const welcome: Bootstrap = JSON.parse(document.body.dataset['bootstrap'] ?? '{}');

export const keyOf = (mode: 'live' | 'test') => welcome.keys.find((key) => key.mode === mode);

export const markUrl = document.querySelector<HTMLLinkElement>('link[rel=icon]')?.href ?? '';
