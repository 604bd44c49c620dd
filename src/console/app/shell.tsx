import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Icon } from './icons.tsx';
import { Dialog } from './parts/dialog.tsx';
import { SessionDialog } from './parts/session-dialog.tsx';
import { SignInForm } from './parts/sign-in-form.tsx';
import { Toasts } from './parts/toast.tsx';
import { type Mode, pageUrl } from './router.ts';
import { setTheme, useTheme } from './theme.ts';
import { bootstrap, keyOf, markUrl } from './welcome.ts';

export function Shell({ path, mode, children }: { path: string; mode: Mode; children: ComponentChildren }) {
  const link = (to: string, text: string) => {
    const isHere = to === '/' ? !/^\/(account|analytics|live)(\/|$)/.test(path) : path.startsWith(to);
    return (
      <a href={pageUrl(to)} aria-current={isHere ? 'page' : undefined}>
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
          <a class="row brand" href={pageUrl('/')}>
            <img src={markUrl} alt="" width="28" height="28" />
            <span>Scanlog</span>
          </a>
          <span class="account-name" title={bootstrap.account.name}>
            <span class="hidden">Account: </span>
            {bootstrap.account.name}
          </span>
          <nav aria-label="Main">
            {link('/', 'Codes')}
            {link('/analytics', 'Analytics')}
            {link('/live', 'Live')}
            {link('/account', 'Account')}
          </nav>
          <div class="row gap-xs tools">
            <ModeSwitch mode={mode} />
            <ThemeToggle />
            <form method="post" action="/console/sign-out">
              <button type="submit" class="button quiet" aria-label="Sign out">
                <Icon name="exit" />
                <span>Sign out</span>
              </button>
            </form>
          </div>
        </div>
      </header>
      {mode === 'test' && (
        <p class="test-band">
          <strong>Test mode.</strong> Test codes work like live codes, are kept separate, and do not count toward your
          plan.
        </p>
      )}
      <main class="wrap" id="content" tabIndex={-1}>
        {children}
      </main>
      <footer class="wrap row between foot">
        <a href="/swagger" target="_blank" rel="noreferrer">
          API documentation
        </a>
      </footer>
      <Toasts />
      <SessionDialog />
    </>
  );
}

/** Switches between live and test mode; with a key of one mode only, offers to sign in with one of the other. */
function ModeSwitch({ mode }: { mode: Mode }) {
  const other: Mode = mode === 'live' ? 'test' : 'live';
  const [isSigningIn, setIsSigningIn] = useState(false);
  if (keyOf(other) !== undefined)
    return (
      <nav class="switch" aria-label="Mode">
        {(['live', 'test'] as const).map((option) => (
          <a key={option} href={pageUrl('/', option)} aria-current={option === mode ? 'true' : undefined}>
            {option === 'live' ? 'Live' : 'Test'}
          </a>
        ))}
      </nav>
    );
  return (
    <>
      <button type="button" class="button quiet" aria-label={`Add ${other} mode`} onClick={() => setIsSigningIn(true)}>
        <Icon name="plus" />
        <span>
          {other === 'test' ? 'Test' : 'Live'}
          <span class="wide"> mode</span>
        </span>
      </button>
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
