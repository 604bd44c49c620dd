import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Field, type FieldProps } from './field.tsx';
import { Form } from './form.tsx';

interface Props extends Pick<FieldProps, 'label' | 'placeholder' | 'hint' | 'autocomplete' | 'type'> {
  /** What the button says that sends the secret. */
  button: string;
  /** Sends what was typed. Returns the error to show. */
  send(secret: string): Promise<string | undefined>;
  /** Between the field and the buttons. */
  children?: ComponentChildren;
  /** Buttons before the one that sends. */
  actions?: ComponentChildren;
}

/** A form with one secret: a password, a key or a one-time code. */
export function SecretForm({ button, send, children, actions, ...field }: Props) {
  const [secret, setSecret] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  const submit = async () => {
    if (busy) return;
    setBusy(true);
    setError(await send(secret));
    setBusy(false);
  };
  return (
    <Form onSubmit={submit}>
      <Field
        type="password"
        autocomplete="current-password"
        {...field}
        value={secret}
        onValue={(value) => {
          setSecret(value);
          setError(undefined);
        }}
        error={error}
        isCode
      />
      {children}
      <div class="row actions">
        {actions}
        <button type="submit" class="button primary" disabled={busy || secret.trim() === ''}>
          {button}
        </button>
      </div>
    </Form>
  );
}
