import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Icon } from './icons.tsx';
import { KeysDialog } from './keys-dialog.tsx';
import { Palette } from './palette.tsx';
import { Dialog } from './parts/dialog.tsx';
import { Menu } from './parts/menu.tsx';
import { SessionDialog } from './parts/session-dialog.tsx';
import { SignInForm } from './parts/sign-in-form.tsx';
import { Toasts } from './parts/toast.tsx';
import { homePath, LimitedKeyBand, mainPages } from './permissions.tsx';
import { isList, type Mode, pageUrl } from './router.ts';
import { useShortcuts } from './shortcuts.ts';
import { setTheme, useTheme } from './theme.ts';
import { UnknownParameters } from './unknown-parameters.tsx';
import { bootstrap, keyOf, markUrl } from './welcome.ts';
import { ZoneQuestion } from './zone-question.tsx';

export function Shell({ path, mode, children }: { path: string; mode: Mode; children: ComponentChildren }) {
  const [overlay, setOverlay] = useState<'palette' | 'keys'>();
  const openPalette = () => setOverlay('palette');
  const openKeys = () => setOverlay('keys');
  const close = () => setOverlay(undefined);
  useShortcuts({ openPalette, openKeys });
  const link = (to: string, text: string) => {
    const isHere = to === '/' ? !/^\/(account|analytics|live|operator)(\/|$)/.test(path) : path.startsWith(to);
    return (
      <a key={to} href={pageUrl(to)} aria-current={isHere ? 'page' : undefined}>
        {text}
      </a>
    );
  };
  return (
    <>
      <a class="skip" href="#content">
        Skip to content
      </a>
      <header class="top">
        <div class="wrap row">
          <a class="row brand" href={pageUrl(homePath())}>
            <img src={markUrl} alt="" width="28" height="28" />
            <span>Scanlog</span>
          </a>
          <nav class="row gap-xs" aria-label="Main">
            {mainPages().map(([to, text]) => link(to, text))}
          </nav>
          <div class="row gap-xs tools">
            <button
              type="button"
              class="button quiet square"
              aria-label="Search and commands"
              title="Search and commands (Ctrl K)"
              aria-haspopup="dialog"
              aria-keyshortcuts="Control+K Meta+K"
              onClick={openPalette}
            >
              <Icon name="search" />
            </button>
            <ThemeToggle />
            <AccountMenu mode={mode} openKeys={openKeys} />
          </div>
        </div>
      </header>
      {mode === 'test' && (
        <p class="test-band">
          <strong>Test mode.</strong> Test codes work like live codes, are kept separate, and do not count toward your
          plan.
        </p>
      )}
      <LimitedKeyBand />
      <ZoneQuestion mode={mode} />
      <main class={`wrap ${isList(path) ? 'full' : ''}`} id="content" tabIndex={-1}>
        <UnknownParameters />
        {children}
      </main>
      <footer class="wrap row gap-l foot">
        <HelpLinks />
      </footer>
      <Toasts />
      <SessionDialog />
      {overlay === 'palette' && <Palette onClose={close} openKeys={openKeys} />}
      {overlay === 'keys' && <KeysDialog onClose={close} />}
    </>
  );
}

const HelpLinks = ({ class: className }: { class?: string }) => (
  <>
    <a class={className} href="/console/docs/README.md" target="_blank" rel="noreferrer">
      Guides
    </a>
    <a class={className} href="/swagger" target="_blank" rel="noreferrer">
      API reference
    </a>
  </>
);

/** The account, its other mode, help, and the way out. */
function AccountMenu({ mode, openKeys }: { mode: Mode; openKeys(): void }) {
  const { name } = bootstrap.account;
  const other: Mode = mode === 'live' ? 'test' : 'live';
  const [isSigningIn, setIsSigningIn] = useState(false);
  return (
    <>
      <Menu
        label={`Account menu of ${name}`}
        buttonClass="button quiet"
        button={
          <>
            <span class="clip account-name">{name}</span>
            <Icon name="expand" />
          </>
        }
      >
        <p class="hint wrapped">{name}</p>
        {keyOf(other) === undefined ? (
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

/** Signs in with a key of the other mode in addition to the current key. */
const AddModeDialog = ({ mode, onClose }: { mode: Mode; onClose(): void }) => (
  <Dialog title={`Add ${mode} mode`} onClose={onClose}>
    <p>
      {mode === 'test'
        ? 'Test codes are kept separate and do not count toward your plan.'
        : 'Live codes are the ones you publish.'}{' '}
      Sign in with a {mode} key of “{bootstrap.account.name}” to switch between live and test mode.
    </p>
    <SignInForm
      mode={mode}
      onSignedIn={() => location.assign(pageUrl('/', mode))}
      actions={
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
      }
    >
      {mode === 'live' ? (
        <div class="hint">
          Only a live key can create a live key. Ask a colleague who has one, or the operator of this service.
        </div>
      ) : (
        <div class="hint">
          Create one under{' '}
          <a href={pageUrl('/account/keys')} onClick={onClose}>
            API keys
          </a>
          .
        </div>
      )}
    </SignInForm>
  </Dialog>
);

function ThemeToggle() {
  const theme = useTheme();
  const other = theme === 'dark' ? 'light' : 'dark';
  return (
    <button
      type="button"
      class="button quiet square"
      aria-label={`Switch to ${other} theme`}
      title={`Switch to ${other} theme`}
      onClick={() => setTheme(other)}
    >
      <Icon name={theme === 'dark' ? 'sun' : 'moon'} />
    </button>
  );
}
