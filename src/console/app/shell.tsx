import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Icon } from './icons.tsx';
import { Dialog, DialogActions } from './parts/dialog.tsx';
import { Toasts } from './parts/toast.tsx';
import { type Mode, pageUrl } from './router.ts';
import { setTheme, useTheme } from './theme.ts';
import { bootstrap, keyOf, markUrl } from './welcome.ts';

export function Shell({ path, mode, children }: { path: string; mode: Mode; children: ComponentChildren }) {
  const link = (to: string, text: string) => {
    const isHere = to === '/' ? !path.startsWith('/account') : path.startsWith(to);
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
        <div class="wrap">
          <a class="brand" href={pageUrl('/')}>
            <img src={markUrl} alt="" width="28" height="28" />
            <span>Scanlog</span>
          </a>
          <nav aria-label="Main">
            {link('/', 'Codes')}
            {link('/account', 'Account')}
          </nav>
          <div class="tools">
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
      <footer class="wrap foot">
        <span>{bootstrap.account.name}</span>
        <a href="/swagger" target="_blank" rel="noreferrer">
          API documentation
        </a>
      </footer>
      <Toasts />
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
function AddModeDialog({ mode, onClose }: { mode: Mode; onClose(): void }) {
  return (
    <Dialog title={`Add ${mode} mode`} onClose={onClose}>
      <form method="post" action="/console/session">
        <p>
          {mode === 'test'
            ? 'Test codes are kept separate and do not count toward your plan.'
            : 'Live codes are the ones you publish.'}{' '}
          Sign in with a {mode} key to switch between live and test mode.
        </p>
        <input type="hidden" name="next" value={pageUrl('/', mode)} />
        <div class="field">
          <label for="mode-key">{mode === 'test' ? 'Test' : 'Live'} API key</label>
          <div class="input">
            <input
              id="mode-key"
              name="key"
              type="password"
              required
              autocomplete="off"
              placeholder={`sk_${mode}_…`}
              pattern={`sk_${mode}_.+`}
              title={`Enter an API key that starts with sk_${mode}_`}
            />
          </div>
          {mode === 'live' ? (
            <div class="hint">
              Only a live key can create a live key. Ask a colleague who has one, or your administrator.
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
        </div>
        <DialogActions onCancel={onClose}>
          <button type="submit" class="button primary">
            Sign in
          </button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

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
