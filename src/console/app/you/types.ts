import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server';
import type { Static } from '@sinclair/typebox';
import type * as schemas from '../../people/credential-schemas.ts';
import type * as security from '../../people/security.ts';

export type OwnSecurityChange = Static<typeof security.OwnSecurityChange>;
export type OwnCredentials = Static<typeof schemas.OwnCredentials>;
export type OwnPasskey = Static<typeof schemas.OwnPasskey>;
export type RecoveryCodes = Static<typeof schemas.RecoveryCodes>;
export type TotpSetup = Static<typeof schemas.TotpSetup>;
export interface PasskeyOptions {
  step: string;
  options: PublicKeyCredentialCreationOptionsJSON;
}
