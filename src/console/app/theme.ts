import { useLayoutEffect, useState } from 'preact/hooks';

export type Theme = 'light' | 'dark';

const systemDark = matchMedia('(prefers-color-scheme: dark)');

const chosenTheme = (): Theme | undefined => document.documentElement.dataset['theme'] as Theme | undefined;
const currentTheme = (): Theme => chosenTheme() ?? (systemDark.matches ? 'dark' : 'light');

const listeners = new Set<() => void>();
const notifyListeners = () => {
  for (const listener of listeners) listener();
};
systemDark.addEventListener('change', notifyListeners);

/** Paper is light. Charts are drawn again in its colors, which the style sheet for print cannot do. */
let themeBeforePrint: Theme | undefined;
addEventListener('beforeprint', () => {
  themeBeforePrint = chosenTheme();
  document.documentElement.dataset['theme'] = 'light';
  notifyListeners();
});
addEventListener('afterprint', () => {
  if (themeBeforePrint === undefined) delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = themeBeforePrint;
  notifyListeners();
});

/** Stores the theme in a cookie, so that the server renders the next page in it; the system's theme needs no cookie. */
export function setTheme(theme: Theme): void {
  const isSystem = theme === (systemDark.matches ? 'dark' : 'light');
  if (isSystem) delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
  // biome-ignore lint/suspicious/noDocumentCookie: not every browser has the Cookie Store API
  document.cookie = `scanlog_theme=${theme}; Path=/console; Max-Age=${isSystem ? 0 : 31_536_000}; SameSite=Strict`;
  notifyListeners();
}

export function useTheme(): Theme {
  const [theme, setState] = useState(currentTheme);
  useLayoutEffect(() => {
    const update = () => setState(currentTheme());
    listeners.add(update);
    return () => void listeners.delete(update);
  }, []);
  return theme;
}
