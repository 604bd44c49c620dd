import { useState } from 'preact/hooks';
import { codeHint, codeLabel, codeTitle } from '../../code-words.ts';
import { enterCode, type SignInOutcome, signIn, signInWithPasskey } from '../session.ts';
import { bootstrap } from '../welcome.ts';
import { Dialog } from './dialog.tsx';
import { OtherWays, providerUrl } from './other-ways.tsx';
import { OwnDevice, useOwnDevice } from './own-device.tsx';
import { SecretForm } from './secret-form.tsx';

interface Props {
  /** Why the person has to sign in again. */
  message: string;
  user: NonNullable<typeof bootstrap.user>;
  onSignedIn(): void;
}

/** Signs in the person of the page again without leaving it, in every way of the sign-in page but a key. */
export function PersonSignInDialog({ message, user, onSignedIn }: Props) {
  /** What a right password has begun, where the person has one-time codes. */
  const [step, setStep] = useState<string>();
  const [notice, setNotice] = useState(message);
  const device = useOwnDevice();
  /** Goes on with the outcome of a sign-in; returns the error to show. */
  const goOn = (outcome: SignInOutcome) => {
    if ('step' in outcome) setStep(outcome.step);
    else if (!('problem' in outcome)) onSignedIn();
    else if (!outcome.isOver) return outcome.problem;
    else {
      setNotice(outcome.problem);
      setStep(undefined);
    }
    return undefined;
  };
  if (step !== undefined)
    return (
      <Dialog title={codeTitle} staysOpen>
        <SecretForm
          key="code"
          label={codeLabel}
          hint={codeHint}
          type="text"
          autocomplete="one-time-code"
          button="Sign in"
          send={async (code) => goOn(await enterCode(step, code))}
          actions={
            <button type="button" class="button" onClick={() => setStep(undefined)}>
              Back
            </button>
          }
        />
      </Dialog>
    );
  const { ways } = bootstrap;
  const hasPassword = ways.has_passwords && user.has_password;
  return (
    <Dialog title="You are signed out" staysOpen>
      <p>{notice}</p>
      <p>What you typed on this page is kept, also if you sign in in another tab and come back.</p>
      {hasPassword ? (
        <SecretForm
          key="password"
          label={`Password of ${user.email}`}
          button="Sign in"
          send={async (password) => goOn(await signIn({ email: user.email, password }, device.isOwn))}
        >
          <OwnDevice {...device} />
        </SecretForm>
      ) : (
        ways.has_passkeys && <OwnDevice {...device} />
      )}
      <OtherWays
        hasPasskey={ways.has_passkeys}
        sendPasskey={async (answer) => goOn(await signInWithPasskey(user.id, answer, device.isOwn))}
      >
        {ways.provider !== null && (
          <a class="button" href={providerUrl()} target="_blank" rel="noreferrer">
            Sign in with {ways.provider}
          </a>
        )}
        <a class="button" href={location.pathname + location.search} target="_blank" rel="noreferrer">
          Sign in in another tab
        </a>
      </OtherWays>
    </Dialog>
  );
}
