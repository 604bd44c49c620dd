import type { Scope } from '../../../events/scopes.ts';
import { allowedSections } from './account/sections.tsx';
import { switchAccount } from './account-switcher.tsx';
import { openView, views } from './codes/views.ts';
import { may } from './permissions.tsx';
import { type Mode, navigate, pageUrl } from './router.ts';
import { setTheme, type Theme } from './theme.ts';
import type { ListedQrCode } from './types.ts';
import { bootstrap, hasMode } from './welcome.ts';

/** One line of the palette. */
export interface Item {
  group: 'Codes' | 'Views' | 'Actions' | 'Accounts' | 'Pages';
  label: string;
  hint?: string;
  run(): void;
}

/** Nothing for a key without the scope or a person without the role. */
const allowed = (scope: Scope, item: Item): Item[] => (may(scope) ? [item] : []);

const page = (label: string, path: string, scope: Scope): Item[] =>
  allowed(scope, { group: 'Pages', label, run: () => navigate(pageUrl(path)) });

const guide = (label: string, url: string): Item => ({
  group: 'Pages',
  label,
  run: () => void window.open(url, '_blank', 'noreferrer'),
});

/** The other accounts of the person. */
const otherAccounts = (): Item[] =>
  bootstrap.accounts
    .filter(({ id }) => id !== bootstrap.account.id)
    .map(({ id, name }) => ({ group: 'Accounts', label: `Switch to ${name}`, run: () => switchAccount(id) }));

/** What the palette offers without a search for codes. */
export function fixedItems({ mode, theme, openKeys }: { mode: Mode; theme: Theme; openKeys(): void }): Item[] {
  const otherTheme = theme === 'dark' ? 'light' : 'dark';
  const otherMode: Mode = mode === 'live' ? 'test' : 'live';
  const action = (label: string, run: () => void): Item => ({ group: 'Actions', label, run });
  return [
    ...allowed(
      'codes.write',
      action('Create code', () => navigate(pageUrl('/codes/new'))),
    ),
    ...allowed(
      'codes.write',
      action('Import codes', () => navigate(pageUrl('/codes/import'))),
    ),
    ...allowed(
      'webhooks.write',
      action('Create webhook', () => navigate(pageUrl('/account/webhook/new'))),
    ),
    action(`Switch to ${otherTheme} theme`, () => setTheme(otherTheme)),
    ...(hasMode(otherMode) ? [action(`Switch to ${otherMode} mode`, () => navigate(pageUrl('/', otherMode)))] : []),
    action('Show keyboard shortcuts', openKeys),
    ...views.read().map((view): Item => ({ group: 'Views', label: view.name, run: () => openView(view) })),
    ...otherAccounts(),
    ...page('Codes', '/', 'codes.read'),
    ...page('Analytics', '/analytics', 'analytics.read'),
    ...page('Live', '/live', 'events.read'),
    ...allowedSections().flatMap(({ text, path, scope }) => page(`Account: ${text}`, path, scope)),
    ...(bootstrap.user === null
      ? []
      : [
          {
            group: 'Pages',
            label: 'You: profile, password and sessions',
            run: () => navigate(pageUrl('/you')),
          } as const,
        ]),
    guide('Guides', '/console/docs/README.md'),
    guide('API reference', '/swagger'),
  ];
}

export const codeItem = ({ id, name, short_url }: ListedQrCode): Item => ({
  group: 'Codes',
  label: name,
  hint: short_url.replace(/^https?:\/\//, ''),
  run: () => navigate(pageUrl(`/codes/${id}`)),
});

/** Whether the label has every word of the text, in any order. */
export const matches = ({ label }: Item, text: string): boolean =>
  text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => label.toLowerCase().includes(word));
