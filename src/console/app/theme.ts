import { useEffect, useState } from 'preact/hooks';

export type Theme = 'light' | 'dark';

const system = matchMedia('(prefers-color-scheme: dark)');

const chosen = (): Theme | undefined => document.documentElement.dataset['theme'] as Theme | undefined;
const current = (): Theme => chosen() ?? (system.matches ? 'dark' : 'light');

const listeners = new Set<() => void>();
const tell = () => {
  for (const listener of listeners) listener();
};
system.addEventListener('change', tell);

/** Kept in a cookie, so that the server makes the next page in it and nothing flickers; the system's own needs none. */
export function setTheme(theme: Theme): void {
  const isSystem = theme === (system.matches ? 'dark' : 'light');
  if (isSystem) delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
  // biome-ignore lint/suspicious/noDocumentCookie: the cookie store is not in every browser yet
  document.cookie = `scanlog_theme=${theme}; Path=/console; Max-Age=${isSystem ? 0 : 31_536_000}; SameSite=Strict`;
  tell();
}

export function useTheme(): Theme {
  const [theme, set] = useState(current);
  useEffect(() => {
    const follow = () => set(current());
    listeners.add(follow);
    return () => void listeners.delete(follow);
  }, []);
  return theme;
}
