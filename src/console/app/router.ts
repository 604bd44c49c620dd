import { useLayoutEffect, useState } from 'preact/hooks';

/** Each mode has its own base path, so a URL alone identifies the mode. */
const basePaths = { live: '/console', test: '/console/test' } as const;
export type Mode = keyof typeof basePaths;

const isTest = () => location.pathname === basePaths.test || location.pathname.startsWith(`${basePaths.test}/`);
export const currentMode = (): Mode => (isTest() ? 'test' : 'live');

/** The URL of a page: `pageUrl('/account')`. */
export const pageUrl = (path: string, mode: Mode = currentMode()) => `${basePaths[mode]}${path === '/' ? '' : path}`;

/** The current location: mode, path below the mode's base path, and query. */
export interface Route {
  mode: Mode;
  path: string;
  query: URLSearchParams;
}

const currentRoute = (): Route => {
  const mode = currentMode();
  const path = location.pathname.slice(basePaths[mode].length).replace(/\/+$/, '');
  return { mode, path: path === '' ? '/' : path, query: new URLSearchParams(location.search) };
};

const listeners = new Set<() => void>();
/** The URL of the page on screen. */
let shownUrl = location.pathname + location.search;
const notifyListeners = () => {
  shownUrl = location.pathname + location.search;
  for (const listener of listeners) listener();
};

/** Receives what would leave the page, to call it once the user agrees. */
type LeaveGuard = (leave: () => void) => void;
let leaveGuard: LeaveGuard | undefined;

/** Lets a page with unsaved changes ask before it is left; returns a function that ends this. */
export function guardLeaving(guard: LeaveGuard): () => void {
  leaveGuard = guard;
  return () => {
    if (leaveGuard === guard) leaveGuard = undefined;
  };
}

/** Goes elsewhere, unless the page asks first. */
function leave(go: () => void): void {
  if (leaveGuard === undefined) go();
  else leaveGuard(go);
}

/** What a history entry remembers: the list of codes, with its search, that the user came from. */
interface EntryState {
  listUrl?: string;
}
const entryState = (): EntryState => history.state ?? {};
/** Whether a path leads to the list of codes. */
export const isList = (path: string) => ['/', '/codes'].includes(path);
const stateOfNext = (): EntryState =>
  isList(currentRoute().path) ? { listUrl: location.pathname + location.search } : entryState();

/** The list of codes as the user left it. */
export const listUrl = () => entryState().listUrl ?? pageUrl('/');

export const navigate = (url: string): void => leave(() => goTo(url));

/** Whether a path is of the operator's pages, which have a script of their own. */
const isOperators = (pathname: string) => /^\/console(\/test)?\/operator(\/|$)/.test(pathname);

/** Without asking about unsaved changes: for a page that no longer exists. */
export function goTo(url: string): void {
  if (isOperators(new URL(url, location.href).pathname) !== isOperators(location.pathname)) {
    location.assign(url);
    return;
  }
  const isSamePage = new URL(url, location.href).pathname === location.pathname;
  history.pushState(stateOfNext(), '', url);
  // A filter of the page on screen leaves the scroll position.
  if (!isSamePage) scrollTo(0, 0);
  notifyListeners();
}

type QueryChanges = Record<string, string | undefined>;

/** The current URL with changes of its query; an undefined or empty value removes the parameter. */
export function urlWith(changes: QueryChanges): string {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  return `${location.pathname}${text === '' ? '' : `?${text}`}`;
}

/** Changes the query as a new history entry, so that Back undoes it. */
export function setQuery(changes: QueryChanges): void {
  const url = urlWith(changes);
  if (url === location.pathname + location.search) return;
  leave(() => {
    history.pushState(entryState(), '', url);
    notifyListeners();
  });
}

/** Changes the query without a new history entry: for text that is being typed. */
export function replaceQuery(changes: QueryChanges): void {
  history.replaceState(entryState(), '', urlWith(changes));
  notifyListeners();
}

export function useRoute(): Route {
  const [route, setRoute] = useState(currentRoute);
  useLayoutEffect(() => {
    const update = () => setRoute(currentRoute());
    listeners.add(update);
    return () => void listeners.delete(update);
  }, []);
  return route;
}

/** Handles clicks on links within the console without a page load; the browser handles all other links. */
export function interceptLinks(): void {
  addEventListener('popstate', () => {
    if (leaveGuard === undefined) {
      notifyListeners();
      return;
    }
    // Back has left already: the page returns, and goes there once the user agrees.
    const target = location.pathname + location.search;
    const state = entryState();
    history.pushState(state, '', shownUrl);
    leave(() => goTo(target));
  });
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (link === null || event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    if (link.hasAttribute('target') || link.hasAttribute('download')) return;
    // By its attribute: a link in a drawing has no origin and path.
    const { origin, pathname, search } = new URL(link.getAttribute('href') ?? '', location.href);
    if (origin !== location.origin || !/^\/console(\/|$)/.test(pathname) || pathname.startsWith('/console/api/'))
      return;
    event.preventDefault();
    navigate(pathname + search);
  });
}
