import { useLayoutEffect } from 'preact/hooks';
import { hasSession } from '../api.ts';
import { currentMode, pageUrl } from '../router.ts';
import { type Loss, restoreSession, useLoss } from '../session.ts';
import { bootstrap } from '../welcome.ts';
import { Dialog } from './dialog.tsx';
import { SignInForm } from './sign-in-form.tsx';

/** Covers the page while its session does not fit; the page below keeps what the user has typed. */
export function SessionDialog() {
  const loss = useLoss();
  const isLost = loss !== undefined;
  useLayoutEffect(() => {
    if (!isLost) return undefined;
    // The user may sign in, or back in to this account, in another tab.
    const check = async () => {
      if (document.visibilityState === 'visible' && (await hasSession())) restoreSession();
    };
    document.addEventListener('visibilitychange', check);
    addEventListener('focus', check);
    return () => {
      document.removeEventListener('visibilitychange', check);
      removeEventListener('focus', check);
    };
  }, [isLost]);
  if (loss === undefined) return null;
  if (bootstrap.user !== null) return <PersonSessionDialog loss={loss} hasPassword={bootstrap.user.has_password} />;
  const { name } = bootstrap.account;
  const hasOther = loss.kind === 'other_account';
  return (
    <Dialog title={hasOther ? 'Signed in to another account' : 'You are signed out'} staysOpen>
      <p>{loss.message}</p>
      <p>
        {hasOther
          ? `This page is of “${name}”. To go on with it, sign in to “${name}” again. What you typed on this page is kept.`
          : 'What you typed on this page is kept.'}
      </p>
      <SignInForm
        mode={currentMode()}
        asksDevice
        onSignedIn={restoreSession}
        actions={
          <button type="button" class="button" onClick={() => location.reload()}>
            {hasOther ? 'Reload the page' : 'Go to the sign-in page'}
          </button>
        }
      />
    </Dialog>
  );
}

/** The same for a person, who may also have switched to another account. */
function PersonSessionDialog({ loss: { kind, message }, hasPassword }: { loss: Loss; hasPassword: boolean }) {
  const { id, name } = bootstrap.account;
  const switchBack = async () => {
    const body = new URLSearchParams({ account: id });
    await fetch('/console/switch', { method: 'POST', body, redirect: 'manual' });
    if (await hasSession()) restoreSession();
  };
  if (kind === 'other_account')
    return (
      <Dialog title="Switched to another account" staysOpen>
        <p>{message}</p>
        <p>This page is of “{name}”. What you typed on it is kept.</p>
        <div class="row actions">
          <button type="button" class="button" onClick={() => location.reload()}>
            Reload the page
          </button>
          <button type="button" class="button primary" onClick={switchBack}>
            Switch back to {name}
          </button>
        </div>
      </Dialog>
    );
  // Every way to sign in is on the sign-in page, which another tab shows.
  const signInElsewhere = (
    <a class="button" href={pageUrl('/')} target="_blank" rel="noreferrer">
      Sign in in another tab
    </a>
  );
  return (
    <Dialog title="You are signed out" staysOpen>
      <p>{message}</p>
      <p>What you typed on this page is kept, also if you sign in in another tab and come back.</p>
      {hasPassword ? (
        <SignInForm mode={currentMode()} asksDevice onSignedIn={restoreSession} actions={signInElsewhere} />
      ) : (
        <div class="row actions">{signInElsewhere}</div>
      )}
    </Dialog>
  );
}
