import type { Welcome } from '../pages.ts';

/** Who is signed in, as the page told us. */
export const welcome: Welcome = JSON.parse(document.body.dataset['welcome'] ?? '{}');

export const keyOf = (mode: 'live' | 'test') => welcome.keys.find((key) => key.mode === mode);

export const markUrl = document.querySelector<HTMLLinkElement>('link[rel=icon]')?.href ?? '';
