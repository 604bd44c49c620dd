import type { AuthenticationResponseJSON } from '@simplewebauthn/server';
import { Type as t } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';

const text = t.String({ maxLength: 8_192 });

/** Of a form with the response of a passkey: a post-quantum signature (ML-DSA-87) alone has 6,170 characters. */
export const maxAssertionFormLength = 16_384;

/** What a browser made of a passkey's response to a challenge, in the JSON of WebAuthn. */
const Assertion = t.Object({
  id: text,
  rawId: text,
  type: t.Literal('public-key'),
  response: t.Object({
    clientDataJSON: text,
    authenticatorData: text,
    signature: text,
    userHandle: t.Optional(text),
  }),
  clientExtensionResults: t.Object({}),
});

/** The response of a passkey in a form field; undefined if it is not one. */
export function readAssertion(given: string): AuthenticationResponseJSON | undefined {
  try {
    const value: unknown = JSON.parse(given);
    return Value.Check(Assertion, value) ? value : undefined;
  } catch {
    return undefined;
  }
}
