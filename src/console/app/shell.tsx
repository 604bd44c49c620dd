import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { AccountMenu, HelpLinks } from './account-menu.tsx';
import { AccountSwitcher } from './account-switcher.tsx';
import { Bell } from './bell.tsx';
import { Icon } from './icons.tsx';
import { IgnoredParameters } from './ignored-parameters.tsx';
import { KeysDialog } from './keys-dialog.tsx';
import { Palette } from './palette.tsx';
import { ReauthenticationDialog } from './parts/reauthentication-dialog.tsx';
import { SessionDialog } from './parts/session-dialog.tsx';
import { Toasts } from './parts/toast.tsx';
import { homePath, LimitBand, mainPages } from './permissions.tsx';
import { isList, type Mode, pageUrl } from './router.ts';
import { useShortcuts } from './shortcuts.ts';
import { setTheme, useTheme } from './theme.ts';
import { markUrl } from './welcome.ts';
import { ZoneQuestion } from './zone-question.tsx';

export function Shell({ path, mode, children }: { path: string; mode: Mode; children: ComponentChildren }) {
  const [overlay, setOverlay] = useState<'palette' | 'keys'>();
  const openPalette = () => setOverlay('palette');
  const openKeys = () => setOverlay('keys');
  const close = () => setOverlay(undefined);
  useShortcuts({ openPalette, openKeys });
  const link = (to: string, text: string) => {
    const isHere = to === '/' ? !/^\/(account|analytics|live|operator|you)(\/|$)/.test(path) : path.startsWith(to);
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
          <a class="row brand" href={pageUrl(homePath())} aria-label="Scanlog">
            <img src={markUrl} alt="" width="28" height="28" />
            {/* A phone has no room for it beside the tools and the name of the account. */}
            <span class="wide">Scanlog</span>
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
            <Bell />
            <ThemeToggle />
            <AccountSwitcher />
            <AccountMenu mode={mode} openKeys={openKeys} />
          </div>
        </div>
      </header>
      {mode === 'test' && (
        <section class="test-band" aria-label="Mode">
          <strong>Test mode.</strong> Test codes work like live codes, are kept separate, and do not count toward your
          plan.
        </section>
      )}
      <LimitBand path={path} />
      <ZoneQuestion mode={mode} />
      <main class={`wrap ${isList(path) ? 'full' : ''}`} id="content" tabIndex={-1}>
        <IgnoredParameters />
        {children}
      </main>
      <footer class={`wrap row gap-l foot ${isList(path) ? 'full' : ''}`}>
        <HelpLinks />
      </footer>
      <Toasts />
      <ReauthenticationDialog />
      <SessionDialog />
      {overlay === 'palette' && <Palette onClose={close} openKeys={openKeys} />}
      {overlay === 'keys' && <KeysDialog onClose={close} />}
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
      aria-label={`Switch to ${other} theme`}
      title={`Switch to ${other} theme`}
      onClick={() => setTheme(other)}
    >
      <Icon name={theme === 'dark' ? 'sun' : 'moon'} />
    </button>
  );
}
