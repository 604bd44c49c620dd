import type { ComponentChildren } from 'preact';
import { type Scope, scopes } from '../../../events/scopes.ts';
import { Empty } from './parts/states.tsx';
import { currentMode } from './router.ts';
import { bootstrap, keyOf } from './welcome.ts';

/** What each scope lets a key do, to follow "can". */
export const scopeTexts: Record<Scope, string> = {
  'codes.read': 'view codes',
  'codes.write': 'create and change codes',
  'analytics.read': 'view analytics',
  'events.read': 'follow events and the audit log',
  'webhooks.write': 'manage webhooks',
  'domains.write': 'manage domains',
  'account.read': 'view the account and its keys',
  'account.write': 'change the account and its keys',
};

/** The scopes of the session's key in the current mode. */
export const ownScopes = (): readonly Scope[] => keyOf(currentMode())?.scopes ?? scopes;

export const hasFullAccess = () => keyOf(currentMode())?.scopes === null;

/** Whether the session's key in the current mode has the scope. */
export const may = (scope: Scope): boolean => ownScopes().includes(scope);

/** Leaves out what the key may not do; the band at the top of the page says why. */
export const Allowed = ({ scope, children }: { scope: Scope; children: ComponentChildren }) =>
  may(scope) ? children : null;

/** The pages of the navigation that the key may see; operators of the service have one more. */
export const mainPages = (): (readonly [path: string, text: string])[] => [
  ...(
    [
      ['/', 'Codes', ['codes.read']],
      ['/analytics', 'Analytics', ['analytics.read']],
      ['/live', 'Live', ['events.read']],
      ['/account', 'Account', ['account.read', 'events.read', 'webhooks.write']],
    ] as const
  )
    .filter(([, , needed]) => needed.some(may))
    .map(([path, text]) => [path, text] as const),
  ...(bootstrap.user?.is_operator === true ? [['/operator', 'Operator'] as const] : []),
];

export const homePath = () => mainPages()[0]?.[0] ?? '/';

const list = new Intl.ListFormat('en');

/** "view codes and view analytics" */
export const accessText = (given: readonly Scope[]) => list.format(given.map((scope) => scopeTexts[scope]));

/** In place of a page that the key may not see. */
export const NotAllowed = ({ scope }: { scope: Scope }) => (
  <Empty title="Not available with this key">
    <p>
      The key “{keyOf(currentMode())?.name}” cannot {scopeTexts[scope]}. Sign in with a key that has the scope{' '}
      <code>{scope}</code>.
    </p>
  </Empty>
);

/** Why parts of the console are missing. */
export function LimitedKeyBand() {
  const key = keyOf(currentMode());
  if (key === undefined || key.scopes === null) return null;
  return (
    <p class="test-band">
      <strong>Limited key.</strong> “{key.name}” can {accessText(key.scopes)}. What needs another key is not shown.
    </p>
  );
}
