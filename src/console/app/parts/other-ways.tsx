import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { askPasskey, hasPasskeys, type PasskeyResponse, passkeyProblem } from '../webauthn.ts';
import { bootstrap } from '../welcome.ts';

/** Where the provider signs in the person, and leads back to this page of the account. */
export const providerUrl = (parameters: Record<string, string> = {}) => {
  const next = location.pathname + location.search;
  return `/console/oidc/start?${new URLSearchParams({ ...parameters, account: bootstrap.account.id, next })}`;
};

interface Props {
  /** Whether the person may have a passkey. */
  hasPasskey: boolean;
  /** Sends the answer of a passkey. Returns the error to show. */
  sendPasskey(answer: PasskeyResponse): Promise<string | undefined>;
  /** A link to the provider, if there is one. */
  children?: ComponentChildren;
}

/** How people prove who they are besides a password: to sign in again, and for what asks for a proof. */
export function OtherWays({ hasPasskey, sendPasskey, children }: Props) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const usePasskey = async () => {
    setBusy(true);
    setProblem(await askPasskey().then(sendPasskey, passkeyProblem));
    setBusy(false);
  };
  return (
    <>
      {problem !== undefined && (
        <p class="error" role="alert">
          {problem}
        </p>
      )}
      <div class="row">
        {hasPasskey && hasPasskeys() && (
          <button type="button" class="button" disabled={busy} onClick={usePasskey}>
            Use a passkey
          </button>
        )}
        {children}
      </div>
    </>
  );
}
