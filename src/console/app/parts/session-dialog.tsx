import { useEffect } from 'preact/hooks';
import { hasSession } from '../api.ts';
import { currentMode } from '../router.ts';
import { restoreSession, useLoss } from '../session.ts';
import { bootstrap } from '../welcome.ts';
import { Dialog } from './dialog.tsx';
import { SignInForm } from './sign-in-form.tsx';

/** Covers the page while its session does not fit; the page below keeps what the user has typed. */
export function SessionDialog() {
  const loss = useLoss();
  const isLost = loss !== undefined;
  useEffect(() => {
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
