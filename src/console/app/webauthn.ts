/** WebAuthn with the JSON that the service sends and takes: Safari before 18.4 cannot convert it by itself. */

import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server';

const bytesOf = (text: string) => {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(binary, (char) => char.charCodeAt(0));
};

const textOf = (bytes: ArrayBuffer) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

export const hasPasskeys = () => typeof PublicKeyCredential === 'function';

/** What people can do about an error of the browser, or of the service. */
export const passkeyProblem = (error: unknown): string => {
  if (error instanceof Error && !(error instanceof DOMException)) return error.message;
  const name = error instanceof DOMException ? error.name : '';
  if (name === 'InvalidStateError') return 'This device has a passkey of yours already.';
  if (name === 'NotAllowedError') return 'Your device asked in vain, or you cancelled. Try again.';
  return 'Your browser could not use a passkey.';
};

const withBytes = (list: PublicKeyCredentialCreationOptionsJSON['excludeCredentials'] = []) =>
  list.map(({ id, transports }) => ({
    id: bytesOf(id),
    type: 'public-key' as const,
    transports: transports as AuthenticatorTransport[],
  }));

/** Makes a passkey, and returns it as the service takes it. */
export async function createPasskey(options: PublicKeyCredentialCreationOptionsJSON): Promise<object> {
  const { challenge, user, excludeCredentials, rp, pubKeyCredParams, authenticatorSelection, timeout } = options;
  const created = await navigator.credentials.create({
    publicKey: {
      rp,
      pubKeyCredParams: pubKeyCredParams as PublicKeyCredentialParameters[],
      ...(authenticatorSelection === undefined ? {} : { authenticatorSelection }),
      ...(timeout === undefined ? {} : { timeout }),
      challenge: bytesOf(challenge),
      user: { id: bytesOf(user.id), name: user.name, displayName: user.displayName },
      excludeCredentials: withBytes(excludeCredentials),
    },
  });
  const credential = created as PublicKeyCredential;
  const response = credential.response as AuthenticatorAttestationResponse;
  return {
    id: credential.id,
    rawId: textOf(credential.rawId),
    type: 'public-key',
    response: {
      clientDataJSON: textOf(response.clientDataJSON),
      attestationObject: textOf(response.attestationObject),
      transports: response.getTransports(),
    },
    clientExtensionResults: {},
  };
}

/** The step of the service and the response of a passkey to its challenge. */
export interface PasskeyResponse {
  step: string;
  response: string;
}

/** Asks the service for a challenge, and a passkey of this device for the response. */
export async function askPasskey(): Promise<PasskeyResponse> {
  const fetched = await fetch('/console/passkey/options', { method: 'POST', headers: { accept: 'application/json' } });
  const body = await fetched.json();
  if (!fetched.ok) throw new Error(body.error.message);
  const { challenge, rpId, userVerification, timeout } = body.options;
  const found = await navigator.credentials.get({
    publicKey: { challenge: bytesOf(challenge), rpId, userVerification, timeout },
  });
  const credential = found as PublicKeyCredential;
  const response = credential.response as AuthenticatorAssertionResponse;
  const json = {
    id: credential.id,
    rawId: textOf(credential.rawId),
    type: 'public-key',
    response: {
      clientDataJSON: textOf(response.clientDataJSON),
      authenticatorData: textOf(response.authenticatorData),
      signature: textOf(response.signature),
      ...(response.userHandle === null ? {} : { userHandle: textOf(response.userHandle) }),
    },
    clientExtensionResults: {},
  };
  return { step: body.step, response: JSON.stringify(json) };
}
