import { Type } from '@sinclair/typebox';
import { defineEvent, type EventOf } from './define.ts';
import { oneOf } from './one-of.ts';
import { modes } from './plans.ts';

const text = Type.String();
/** Live if the session has a live key or belongs to a person: a test key must not see such sessions. */
const mode = oneOf(modes);

export const signInMeans = ['key', 'link', 'password', 'passkey', 'oidc'] as const;
export type SignInMeans = (typeof signInMeans)[number];
export const sessionEnds = ['sign_out', 'other_session', 'operator'] as const;
export type SessionEndCause = (typeof sessionEnds)[number];
export const signInFailures = [
  'key_revoked',
  'key_expired',
  'address_not_allowed',
  'other_account',
  'other_mode',
  'link_expired',
] as const;
export type SignInFailure = (typeof signInFailures)[number];

/**
 * Sign-ins to the console, in the account's stream. Device and browser are general names derived from the user agent, which
 * is not stored, nor is an address. Attempts that name no account are not in the log.
 */
export const sessionEvents = {
  session_started: defineEvent(
    2,
    Type.Object(
      {
        session: text,
        mode,
        by: oneOf(signInMeans),
        device: text,
        browser: text,
        /** Whether the person had never signed in on this device before; false for a key. */
        is_new_device: Type.Boolean(),
      },
      { additionalProperties: false },
    ),
    { 1: (old) => ({ ...old, is_new_device: false }) },
  ),
  session_ended: defineEvent(
    2,
    Type.Object({ session: text, mode, by: oneOf(sessionEnds) }, { additionalProperties: false }),
    { 1: (old) => old },
  ),
  sign_in_failed: defineEvent(
    2,
    Type.Object({ mode, reason: oneOf(signInFailures) }, { additionalProperties: false }),
    {
      1: (old) => old,
    },
  ),
};

export type SessionEvent = EventOf<typeof sessionEvents>;
