import { Type as t } from '@sinclair/typebox';
import { exact, orNull } from '../../api/http/schemas.ts';

const time = t.String({ format: 'date-time' });
const text = t.String({ maxLength: 8_192 });
const name = t.String({ minLength: 1, maxLength: 100 });

export const OwnPasskey = t.Object({ id: t.String(), name, created_at: time, last_used_at: orNull(time) }, exact);

/** What a person signs in with besides a password. */
export const credentialFields = {
  passkeys: t.Array(OwnPasskey),
  /** Why no passkey can be added here; null if one can. */
  passkey_problem: orNull(t.String()),
  totp: t.Boolean(),
  recovery_codes_left: t.Integer(),
  oidc: t.Boolean(),
};
export const OwnCredentials = t.Object(credentialFields, exact);

/** How the person's app gets the secret: by scanning the URL as a QR code, or by typing the secret. */
export const TotpSetup = t.Object({ secret: t.String(), url: t.String() }, exact);
export const TotpCode = t.Object({ code: t.String({ maxLength: 100 }) }, exact);
export const RecoveryCodes = t.Object({ recovery_codes: t.Array(t.String()) }, exact);

/** The options of `navigator.credentials.create`, in the JSON of WebAuthn. */
export const PasskeyOptions = t.Object({ step: t.String(), options: t.Unsafe<object>(t.Object({})) }, exact);

export const NewPasskey = t.Object(
  {
    step: text,
    name: t.Optional(name),
    response: t.Object(
      {
        id: text,
        rawId: text,
        type: t.Literal('public-key'),
        response: t.Object(
          {
            clientDataJSON: text,
            attestationObject: t.String({ maxLength: 65_536 }),
            transports: t.Optional(t.Array(t.String({ maxLength: 50 }), { maxItems: 10 })),
          },
          exact,
        ),
        clientExtensionResults: t.Object({}),
      },
      exact,
    ),
  },
  exact,
);
export const PasskeyName = t.Object({ name }, exact);
