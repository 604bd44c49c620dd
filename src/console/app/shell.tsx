import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Icon } from './icons.tsx';
import { Dialog } from './parts/dialog.tsx';
import { Toasts } from './parts/toast.tsx';
import { type Mode, pageUrl } from './router.ts';
import { setTheme, useTheme } from './theme.ts';
import { keyOf, markUrl, welcome } from './welcome.ts';

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
          <strong>Test mode.</strong> These codes work like any other, are seen here only, and count against no plan.
        </p>
      )}
      <main class="wrap" id="content" tabIndex={-1}>
        {children}
      </main>
      <footer class="wrap foot">
        <span>{welcome.account.name}</span>
        <a href="/swagger" target="_blank" rel="noreferrer">
          API documentation
        </a>
      </footer>
      <Toasts />
    </>
  );
}

/** With keys of both modes, from one to the other; with one, the way to add the other. */
function ModeSwitch({ mode }: { mode: Mode }) {
  const other: Mode = mode === 'live' ? 'test' : 'live';
  const [asking, setAsking] = useState(false);
  if (keyOf(other) !== undefined)
    return (
      <nav class="switch" aria-label="Mode">
        {(['live', 'test'] as const).map((one) => (
          <a key={one} href={pageUrl('/', one)} aria-current={one === mode ? 'true' : undefined}>
            {one === 'live' ? 'Live' : 'Test'}
          </a>
        ))}
      </nav>
    );
  return (
    <>
      <button type="button" class="button quiet" onClick={() => setAsking(true)}>
        <Icon name="plus" />
        <span>
          {other === 'test' ? 'Test' : 'Live'}
          <span class="wide"> mode</span>
        </span>
      </button>
      {asking && (
        <Dialog title={`Add ${other} mode`} onClose={() => setAsking(false)}>
          <form method="post" action="/console/session">
            <p>
              {other === 'test'
                ? 'Codes made with a test key are kept apart, and count against no plan.'
                : 'Codes made with a live key are those for the public.'}{' '}
              Sign in with one as well, and switch between the two.
            </p>
            <input type="hidden" name="next" value={pageUrl('/', other)} />
            <div class="field">
              <label for="other-key">API key for {other} mode</label>
              <div class="input">
                <input
                  id="other-key"
                  name="key"
                  type="password"
                  required
                  autocomplete="off"
                  placeholder={`sk_${other}_…`}
                  pattern={`sk_${other}_.+`}
                  title={`A key that begins with sk_${other}_`}
                />
              </div>
              {other === 'live' ? (
                <div class="hint">Only a live key can create a live key: ask who has one, or the operator.</div>
              ) : (
                <div class="hint">
                  Make one under{' '}
                  <a href={pageUrl('/account/keys')} onClick={() => setAsking(false)}>
                    API keys
                  </a>
                  .
                </div>
              )}
            </div>
            <div class="actions">
              <button type="button" class="button" onClick={() => setAsking(false)}>
                Cancel
              </button>
              <button type="submit" class="button primary">
                Add
              </button>
            </div>
          </form>
        </Dialog>
      )}
    </>
  );
}

function ThemeToggle() {
  const theme = useTheme();
  const other = theme === 'dark' ? 'light' : 'dark';
  return (
    <button
      type="button"
      class="button quiet square"
      aria-label={`Use ${other} colors`}
      title={`Use ${other} colors`}
      onClick={() => setTheme(other)}
    >
      <Icon name={theme === 'dark' ? 'sun' : 'moon'} />
    </button>
  );
}
