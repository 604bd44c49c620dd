import { useLayoutEffect } from 'preact/hooks';
import { hasSession } from '../api.ts';
import { currentMode } from '../router.ts';
import { type Loss, restoreSession, useLoss } from '../session.ts';
import { bootstrap } from '../welcome.ts';
import { Dialog } from './dialog.tsx';
import { KeySignInForm } from './key-sign-in-form.tsx';
import { useOwnDevice } from './own-device.tsx';
import { PersonSignInDialog } from './person-sign-in.tsx';

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
  const { user } = bootstrap;
  if (user === null) return <KeySessionDialog loss={loss} />;
  if (loss.kind === 'other_account') return <SwitchBackDialog message={loss.message} />;
  return <PersonSignInDialog message={loss.message} user={user} onSignedIn={restoreSession} />;
}

/** Of a session with keys: another tab may be signed in to another account. */
function KeySessionDialog({ loss: { kind, message } }: { loss: Loss }) {
  const device = useOwnDevice();
  const { name } = bootstrap.account;
  const hasOther = kind === 'other_account';
  return (
    <Dialog title={hasOther ? 'Signed in to another account' : 'You are signed out'} staysOpen>
      <p>{message}</p>
      <p>
        {hasOther
          ? `This page is of “${name}”. To go on with it, sign in to “${name}” again. What you typed on this page is kept.`
          : 'What you typed on this page is kept.'}
      </p>
      <KeySignInForm
        mode={currentMode()}
        device={device}
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

/** Of a person who has switched to another account in another tab. */
function SwitchBackDialog({ message }: { message: string }) {
  const { id, name } = bootstrap.account;
  const switchBack = async () => {
    const body = new URLSearchParams({ account: id });
    await fetch('/console/switch', { method: 'POST', body, redirect: 'manual' });
    if (await hasSession()) restoreSession();
  };
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
}
