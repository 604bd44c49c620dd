import type { ComponentChildren } from 'preact';
import { includesRole } from '../../../events/roles.ts';
import { type Scope, scopes } from '../../../events/scopes.ts';
import { Empty } from './parts/states.tsx';
import { roleOf, roleTexts } from './roles.ts';
import { currentMode } from './router.ts';
import { bootstrap, keyOf } from './welcome.ts';

/** What each scope lets a key or a member do, to follow "can". */
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

/** The scopes of the session's key in the current mode; all of them for a person, who is bounded by the role. */
export const ownScopes = (): readonly Scope[] => keyOf(currentMode())?.scopes ?? scopes;

export const hasFullAccess = () => (keyOf(currentMode())?.scopes ?? null) === null;

/** Whether the session's key in the current mode has the scope, or the person's role allows what it stands for. */
export const may = (scope: Scope): boolean =>
  ownScopes().includes(scope) && includesRole(bootstrap.role, roleOf(scope));

/** Whether the session may see the members: people, and live keys. */
export const maySeeMembers = (): boolean =>
  may('account.read') && (bootstrap.user !== null || currentMode() === 'live');

/** Leaves out what the key or person may not do; the band at the top of the page says why. */
export const Allowed = ({ scope, children }: { scope: Scope; children: ComponentChildren }) =>
  may(scope) ? children : null;

/** The pages of the navigation that the key or person may see; operators of the service have one more. */
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

/** In place of a page that the key or person may not see. */
export const NotAllowed = ({ scope }: { scope: Scope }) =>
  bootstrap.user === null ? (
    <Empty title="Not available with this key">
      <p>
        The key “{keyOf(currentMode())?.name}” cannot {scopeTexts[scope]}. Sign in with a key that has the scope{' '}
        <code>{scope}</code>.
      </p>
    </Empty>
  ) : (
    <Empty title="Not available to you">
      <p>
        To {scopeTexts[scope]}, you need to be {roleTexts[roleOf(scope)].article} of “{bootstrap.account.name}”. You are{' '}
        {roleTexts[bootstrap.role].article}. An owner can change that under Account, Members.
      </p>
    </Empty>
  );

/** Why parts of the console are missing. Editors miss something on the pages of the account only. */
export function LimitBand({ path }: { path: string }) {
  const key = keyOf(currentMode());
  if (key !== undefined && key.scopes !== null)
    return (
      <section class="test-band" aria-label="Your access">
        <strong>Limited key.</strong> “{key.name}” can {accessText(key.scopes)}. What needs another key is not shown.
      </section>
    );
  if (bootstrap.role === 'viewer')
    return (
      <section class="test-band" aria-label="Your access">
        <strong>You can view this account.</strong> What editors and owners can change is not shown.
      </section>
    );
  if (bootstrap.role === 'editor' && path.startsWith('/account'))
    return (
      <section class="test-band" aria-label="Your access">
        <strong>You can change codes.</strong> What only owners can change in the account is not shown.
      </section>
    );
  return null;
}
