import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { Mode } from '../router.ts';
import { signIn } from '../session.ts';
import { bootstrap } from '../welcome.ts';
import { Form } from './form.tsx';

interface Props {
  mode: Mode;
  /** Whether to ask if this is the user's own device. */
  asksDevice?: boolean;
  onSignedIn(): void;
  /** Below the field. */
  children?: ComponentChildren;
  /** Buttons before the one that signs in. */
  actions?: ComponentChildren;
}

/** Signs in to this page's account without leaving the page: with a key, or with the password of the page's person. */
export function SignInForm({ mode, asksDevice = false, onSignedIn, children, actions }: Props) {
  const id = useId();
  const { user } = bootstrap;
  const [secret, setSecret] = useState('');
  const [isOwnDevice, setIsOwnDevice] = useState(asksDevice && bootstrap.is_own_device);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  const submit = async () => {
    if (busy) return;
    setBusy(true);
    const problem = await signIn(
      user === null ? { key: secret.trim(), mode } : { email: user.email, password: secret },
      isOwnDevice,
    );
    setBusy(false);
    setError(problem);
    if (problem === undefined) onSignedIn();
  };
  return (
    <Form onSubmit={submit}>
      <div class="stack gap-xs field">
        <label for={id}>
          {user === null ? `${mode === 'test' ? 'Test' : 'Live'} API key` : `Password of ${user.email}`}
        </label>
        <div class="input">
          <input
            id={id}
            type="password"
            autocomplete="current-password"
            spellcheck={false}
            placeholder={user === null ? `sk_${mode}_…` : ''}
            value={secret}
            onInput={(event) => {
              setSecret(event.currentTarget.value);
              setError(undefined);
            }}
            aria-invalid={error !== undefined}
            aria-describedby={error === undefined ? undefined : `${id}-error`}
          />
        </div>
        {error !== undefined && (
          <p class="error" id={`${id}-error`} role="alert">
            {error}
          </p>
        )}
        {children}
      </div>
      {asksDevice && (
        <label class="row nowrap check">
          <input
            type="checkbox"
            checked={isOwnDevice}
            onChange={(event) => setIsOwnDevice(event.currentTarget.checked)}
          />
          <span>This is my device</span>
        </label>
      )}
      <div class="row actions">
        {actions}
        <button type="submit" class="button primary" disabled={busy || secret.trim() === ''}>
          Sign in
        </button>
      </div>
    </Form>
  );
}
