import { useState } from 'preact/hooks';
import { Icon } from './icons.tsx';
import { Dialog } from './parts/dialog.tsx';
import { KeySignInForm } from './parts/key-sign-in-form.tsx';
import { Menu } from './parts/menu.tsx';
import { roleTexts } from './roles.ts';
import { type Mode, pageUrl } from './router.ts';
import { bootstrap, hasMode } from './welcome.ts';

export const HelpLinks = ({ class: className }: { class?: string }) => (
  <>
    <a class={className} href="/console/docs/README.md" target="_blank" rel="noreferrer">
      Guides
    </a>
    <a class={className} href="/swagger" target="_blank" rel="noreferrer">
      API reference
    </a>
  </>
);

/** The person or the account, its other mode, help, and the way out. */
export function AccountMenu({ mode, openKeys }: { mode: Mode; openKeys(): void }) {
  const { user } = bootstrap;
  const name = user?.name ?? bootstrap.account.name;
  const other: Mode = mode === 'live' ? 'test' : 'live';
  const [isSigningIn, setIsSigningIn] = useState(false);
  return (
    <>
      <Menu
        label={user === null ? `Account menu of ${name}` : `Menu of ${name}`}
        buttonClass="button quiet"
        button={
          <>
            {user !== null && <Icon name="person" />}
            <span class={`clip account-name ${user === null ? '' : 'wide'}`} dir="auto">
              {name}
            </span>
            <Icon name="expand" />
          </>
        }
      >
        {user === null ? (
          <p class="hint wrapped" dir="auto">
            {name}
          </p>
        ) : (
          <PersonItems name={name} email={user.email} />
        )}
        {!hasMode(other) ? (
          <button type="button" class="button" onClick={() => setIsSigningIn(true)}>
            <Icon name="plus" />
            Add {other} mode
          </button>
        ) : (
          <nav aria-label="Mode">
            {(['live', 'test'] as const).map((option) => (
              <a
                key={option}
                class="button"
                href={pageUrl('/', option)}
                aria-current={option === mode ? 'true' : undefined}
              >
                {option === 'live' ? 'Live' : 'Test'} mode
                {option === mode && <Icon name="check" />}
              </a>
            ))}
          </nav>
        )}
        <hr />
        <HelpLinks class="button" />
        <button type="button" class="button" onClick={openKeys}>
          Keyboard shortcuts
        </button>
        <hr />
        <form method="post" action="/console/sign-out">
          <button type="submit" class="button">
            <Icon name="exit" />
            Sign out
          </button>
        </form>
      </Menu>
      {isSigningIn && <AddModeDialog mode={other} onClose={() => setIsSigningIn(false)} />}
    </>
  );
}

const PersonItems = ({ name, email }: { name: string; email: string }) => (
  <>
    <p class="hint wrapped">
      <strong dir="auto">{name}</strong>
      <br />
      {email}
      <br />
      {roleTexts[bootstrap.role].name} of {bootstrap.account.name}
    </p>
    <a class="button" href={pageUrl('/you')}>
      <Icon name="person" />
      Your profile and sessions
    </a>
    <hr />
  </>
);

/** Signs in with a key of the other mode in addition to the current key. */
const AddModeDialog = ({ mode, onClose }: { mode: Mode; onClose(): void }) => (
  <Dialog title={`Add ${mode} mode`} onClose={onClose}>
    <p>
      {mode === 'test'
        ? 'Test codes are kept separate and do not count toward your plan.'
        : 'Live codes are the ones you publish.'}{' '}
      Sign in with a {mode} key of “{bootstrap.account.name}” to switch between live and test mode.
    </p>
    <KeySignInForm
      mode={mode}
      onSignedIn={() => location.assign(pageUrl('/', mode))}
      hint={
        mode === 'live' ? (
          'Only a live key can create a live key. Ask a colleague who has one, or the operator of this service.'
        ) : (
          <>
            Create one under{' '}
            <a href={pageUrl('/account/keys')} onClick={onClose}>
              API keys
            </a>
            .
          </>
        )
      }
      actions={
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
      }
    />
  </Dialog>
);
