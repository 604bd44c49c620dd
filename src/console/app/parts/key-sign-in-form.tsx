import type { ComponentChildren } from 'preact';
import type { Mode } from '../router.ts';
import { signIn } from '../session.ts';
import { OwnDevice, type OwnDeviceProps } from './own-device.tsx';
import { SecretForm } from './secret-form.tsx';

interface Props {
  mode: Mode;
  /** Asks whether this is the user's own device. */
  device?: OwnDeviceProps;
  onSignedIn(): void;
  hint?: ComponentChildren;
  /** Buttons before the one that signs in. */
  actions?: ComponentChildren;
}

/** Signs in to this page's account with a key, without leaving the page. */
export function KeySignInForm({ mode, device, onSignedIn, hint, actions }: Props) {
  const send = async (secret: string) => {
    const outcome = await signIn({ key: secret.trim(), mode }, device?.isOwn ?? false);
    if ('problem' in outcome) return outcome.problem;
    onSignedIn();
    return undefined;
  };
  return (
    <SecretForm
      label={`${mode === 'test' ? 'Test' : 'Live'} API key`}
      placeholder={`sk_${mode}_…`}
      hint={hint}
      button="Sign in"
      send={send}
      actions={actions}
    >
      {device !== undefined && <OwnDevice {...device} />}
    </SecretForm>
  );
}
