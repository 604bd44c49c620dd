import { sendProof, useQuestion } from '../reauthentication.ts';
import { useResource } from '../resource.ts';
import { currentMode } from '../router.ts';
import type { Me } from '../types.ts';
import { hasPasskeys, type PasskeyResponse } from '../webauthn.ts';
import { bootstrap } from '../welcome.ts';
import { Dialog, DialogActions } from './dialog.tsx';
import { OtherWays, providerUrl } from './other-ways.tsx';
import { SecretForm } from './secret-form.tsx';

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
        <ProofForm
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
  const hasPasskey = (me.data?.passkeys.length ?? 0) > 0 && hasPasskeys();
  const hasProvider = me.data?.oidc ?? false;
  const sendPasskey = async ({ step, response }: PasskeyResponse) => {
    const problem = await sendProof({ step, response });
    if (problem === undefined) onProven();
    return problem;
  };
  return (
    <>
      {hasPassword && <ProofForm label="Password" name="password" onProven={onProven} onCancel={onCancel} />}
      {(hasPasskey || hasProvider) && (
        <OtherWays hasPasskey={hasPasskey} sendPasskey={sendPasskey}>
          {hasProvider && (
            <a class="button" href={providerUrl({ again: '1' })}>
              Sign in again at your provider
            </a>
          )}
        </OtherWays>
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

const ProofForm = ({ name, onProven, onCancel, ...field }: SecretProps) => (
  <SecretForm
    {...field}
    button="Confirm"
    send={async (secret) => {
      const problem = await sendProof({ [name]: name === 'key' ? secret.trim() : secret });
      if (problem === undefined) onProven();
      return problem;
    }}
    actions={
      <button type="button" class="button" onClick={onCancel}>
        Cancel
      </button>
    }
  />
);

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
