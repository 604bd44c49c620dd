import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server';
import type { Static } from '@sinclair/typebox';
import type * as schemas from '../../people/credential-schemas.ts';

export type OwnCredentials = Static<typeof schemas.OwnCredentials>;
export type OwnPasskey = Static<typeof schemas.OwnPasskey>;
export type RecoveryCodes = Static<typeof schemas.RecoveryCodes>;
export type TotpSetup = Static<typeof schemas.TotpSetup>;
export interface PasskeyOptions {
  step: string;
  options: PublicKeyCredentialCreationOptionsJSON;
}
