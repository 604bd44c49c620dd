import type { Bootstrap } from '../pages.ts';

/** Account, keys and settings that the server embedded in the page. */
export const bootstrap: Bootstrap = JSON.parse(document.body.dataset['bootstrap'] ?? '{}');

export const keyOf = (mode: 'live' | 'test') => bootstrap.keys.find((key) => key.mode === mode);

export const markUrl = document.querySelector<HTMLLinkElement>('link[rel=icon]')?.href ?? '';
