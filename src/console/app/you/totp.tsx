import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { plural } from '../format.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { toast } from '../parts/toast.tsx';
import { useAction } from '../parts/use-action.ts';
import { RecoveryCodesDialog, TotpDialog } from './totp-dialogs.tsx';
import type { OwnCredentials, RecoveryCodes, TotpSetup } from './types.ts';

interface Props {
  me: OwnCredentials;
  onChange(): Promise<void>;
}

/** One-time codes of an app, which sign-ins with the password ask for. */
export function Totp({ me, onChange }: Props) {
  const [setup, setSetup] = useState<TotpSetup>();
  const [codes, setCodes] = useState<string[]>();
  const [asks, setAsks] = useState<'off' | 'codes'>();
  const { busy, run } = useAction();
  const begin = () => run(async () => setSetup(await api.post<TotpSetup>('/me/totp')));
  const show = async (recovery: RecoveryCodes) => {
    setSetup(undefined);
    setAsks(undefined);
    setCodes(recovery.recovery_codes);
    await onChange();
  };
  return (
    <section class="card stack" aria-label="One-time codes">
      <h2>One-time codes</h2>
      {me.totp ? (
        <>
          <p>
            Signing in with your password also asks for a code of your app.{' '}
            {plural(me.recovery_codes_left, 'recovery code')} left for when you have no app at hand.
          </p>
          <div class="row">
            <button type="button" class="button" onClick={() => setAsks('codes')}>
              New recovery codes
            </button>
            <button type="button" class="button danger" onClick={() => setAsks('off')}>
              Turn off
            </button>
          </div>
        </>
      ) : (
        <>
          <p>An app on your phone shows a new code every 30 seconds. Your password alone then signs no one in.</p>
          <div class="row">
            <button type="button" class="button" disabled={busy} onClick={begin}>
              Set up
            </button>
          </div>
        </>
      )}
      {setup !== undefined && <TotpDialog setup={setup} onDone={show} onClose={() => setSetup(undefined)} />}
      {codes !== undefined && <RecoveryCodesDialog codes={codes} onClose={() => setCodes(undefined)} />}
      {asks === 'codes' && (
        <ConfirmDialog
          title="Replace your recovery codes?"
          label="Replace"
          onConfirm={async () => show(await api.post<RecoveryCodes>('/me/totp/recovery-codes'))}
          onClose={() => setAsks(undefined)}
        >
          <p>You get ten new ones. Those that you have written down no longer work.</p>
        </ConfirmDialog>
      )}
      {asks === 'off' && (
        <ConfirmDialog
          title="Turn off one-time codes?"
          label="Turn off"
          isDangerous
          onConfirm={async () => {
            await api.delete('/me/totp');
            await onChange();
            setAsks(undefined);
            toast('One-time codes are off.');
          }}
          onClose={() => setAsks(undefined)}
        >
          <p>Your password alone then signs you in. Your recovery codes no longer work.</p>
        </ConfirmDialog>
      )}
    </section>
  );
}
