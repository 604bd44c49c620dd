import { useEffect, useState } from 'preact/hooks';

/** Pages of test mode live under a base of their own: an address alone tells what is seen there. */
const bases = { live: '/console', test: '/console/test' } as const;
export type Mode = keyof typeof bases;

const isTest = () => location.pathname === bases.test || location.pathname.startsWith(`${bases.test}/`);
export const currentMode = (): Mode => (isTest() ? 'test' : 'live');

/** The address of a page: `pageUrl('/account')`. */
export const pageUrl = (path: string, mode: Mode = currentMode()) => `${bases[mode]}${path === '/' ? '' : path}`;

/** What the address says: the page's path in its mode, and its query. */
export interface Place {
  mode: Mode;
  path: string;
  query: URLSearchParams;
}

const here = (): Place => {
  const mode = currentMode();
  const path = location.pathname.slice(bases[mode].length).replace(/\/+$/, '');
  return { mode, path: path === '' ? '/' : path, query: new URLSearchParams(location.search) };
};

const listeners = new Set<() => void>();
const tell = () => {
  for (const listener of listeners) listener();
};

export function navigate(url: string): void {
  history.pushState(null, '', url);
  scrollTo(0, 0);
  tell();
}

/** Changes the query in place: what is looked at, not where. Nothing for a value takes it out. */
export function setQuery(changes: Record<string, string | undefined>): void {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  history.replaceState(null, '', `${location.pathname}${text === '' ? '' : `?${text}`}`);
  tell();
}

export function usePlace(): Place {
  const [place, setPlace] = useState(here);
  useEffect(() => {
    const follow = () => setPlace(here());
    listeners.add(follow);
    return () => void listeners.delete(follow);
  }, []);
  return place;
}

/** Links within the console are followed without loading a page; everything else is left to the browser. */
export function followLinks(): void {
  addEventListener('popstate', tell);
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (link === null || event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    if (link.target !== '' || link.hasAttribute('download') || link.origin !== location.origin) return;
    if (!/^\/console(\/|$)/.test(link.pathname) || link.pathname.startsWith('/console/api/')) return;
    event.preventDefault();
    navigate(link.pathname + link.search);
  });
}
