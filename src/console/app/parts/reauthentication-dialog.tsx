import { useState } from 'preact/hooks';
import { sendProof, useQuestion } from '../reauthentication.ts';
import { useResource } from '../resource.ts';
import { currentMode } from '../router.ts';
import type { Me } from '../types.ts';
import { askPasskey, hasPasskeys, passkeyProblem } from '../webauthn.ts';
import { bootstrap } from '../welcome.ts';
import { Dialog, DialogActions } from './dialog.tsx';
import { Field } from './field.tsx';
import { Form } from './form.tsx';
import { useAction } from './use-action.ts';

/** Asks for a proof while requests wait for one. */
export function ReauthenticationDialog() {
  const question = useQuestion();
  if (question === undefined) return null;
  const { user } = bootstrap;
  const cancel = () => question.end(false);
  return (
    <Dialog title="Confirm that it is you" onClose={cancel}>
      <p>What you are about to do asks for a proof, and you last gave one more than 15 minutes ago.</p>
      {user === null ? (
        <SecretForm
          label="API key of this session"
          name="key"
          placeholder={`sk_${currentMode()}_…`}
          onProven={() => question.end(true)}
          onCancel={cancel}
        />
      ) : (
        <PersonProof hasPassword={user.has_password} onProven={() => question.end(true)} onCancel={cancel} />
      )}
    </Dialog>
  );
}

interface PersonProps {
  hasPassword: boolean;
  onProven(): void;
  onCancel(): void;
}

/** What the person can prove it with. The password is asked for at once, before the service has named the others. */
function PersonProof({ hasPassword, onProven, onCancel }: PersonProps) {
  const me = useResource<Me>('/me');
  const { busy, run } = useAction();
  const hasPasskey = (me.data?.passkeys.length ?? 0) > 0 && hasPasskeys();
  const hasProvider = me.data?.oidc ?? false;
  const provePasskey = () =>
    run(async () => {
      const response = await askPasskey().catch((error) => {
        throw new Error(passkeyProblem(error));
      });
      const problem = await sendProof({ step: response.step, response: response.response });
      if (problem !== undefined) throw new Error(problem);
      onProven();
    });
  return (
    <>
      {hasPassword && <SecretForm label="Password" name="password" onProven={onProven} onCancel={onCancel} />}
      {(hasPasskey || hasProvider) && (
        <div class="row">
          {hasPasskey && (
            <button type="button" class="button" disabled={busy} onClick={provePasskey}>
              Use a passkey
            </button>
          )}
          {hasProvider && (
            <a
              class="button"
              href={`/console/oidc/start?again=1&next=${encodeURIComponent(location.pathname + location.search)}`}
            >
              Sign in again at your provider
            </a>
          )}
        </div>
      )}
      {me.data !== undefined && !hasPassword && !hasPasskey && !hasProvider && <SignInAgain onCancel={onCancel} />}
    </>
  );
}

interface SecretProps {
  label: string;
  /** What the secret is called in the request. */
  name: 'password' | 'key';
  placeholder?: string;
  onProven(): void;
  onCancel(): void;
}

function SecretForm({ label, name, placeholder, onProven, onCancel }: SecretProps) {
  const [secret, setSecret] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  const submit = async () => {
    if (busy) return;
    setBusy(true);
    const problem = await sendProof({ [name]: name === 'key' ? secret.trim() : secret });
    setBusy(false);
    setError(problem);
    if (problem === undefined) onProven();
  };
  return (
    <Form onSubmit={submit}>
      <Field
        label={label}
        type="password"
        autocomplete="current-password"
        {...(placeholder === undefined ? {} : { placeholder })}
        value={secret}
        onValue={(value) => {
          setSecret(value);
          setError(undefined);
        }}
        error={error}
        isCode
      />
      <DialogActions onCancel={onCancel}>
        <button type="submit" class="button primary" disabled={busy || secret === ''}>
          Confirm
        </button>
      </DialogActions>
    </Form>
  );
}

/** For people who have nothing else at hand: a new sign-in is a proof. */
const SignInAgain = ({ onCancel }: { onCancel(): void }) => (
  <>
    <p>Sign out, sign in again as you usually do, and repeat it.</p>
    <form method="post" action="/console/sign-out">
      <DialogActions onCancel={onCancel}>
        <button type="submit" class="button primary">
          Sign out
        </button>
      </DialogActions>
    </form>
  </>
);
