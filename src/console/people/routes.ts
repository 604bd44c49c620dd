import type { Handler } from '../context.ts';
import { handleForgot, serveForgot } from './forgot.ts';
import { handleInvitation, serveInvitation } from './invitation.ts';
import { finishOidc, startOidc } from './oidc.ts';
import { handlePasskey, servePasskeyOptions, servePasskeyPage } from './passkey-sign-in.ts';
import { handleProof } from './proof.ts';
import { handleReset, serveReset } from './reset.ts';
import { handleCode } from './second-factor.ts';
import { handleSetup, serveSetup } from './setup.ts';
import { handleConfirmation, handleSignUp, serveConfirmation, serveSignUp } from './sign-up.ts';
import { handleSwitch } from './switch.ts';

/** Pages and forms of people, most of them without a session. */
export const peopleRoutes: { method: 'GET' | 'POST'; path: `/console/${string}`; handler: Handler }[] = [
  { method: 'GET', path: '/console/setup', handler: serveSetup },
  { method: 'POST', path: '/console/setup', handler: handleSetup },
  { method: 'GET', path: '/console/invitation', handler: serveInvitation },
  { method: 'POST', path: '/console/invitation', handler: handleInvitation },
  { method: 'GET', path: '/console/reset', handler: serveReset },
  { method: 'POST', path: '/console/reset', handler: handleReset },
  { method: 'GET', path: '/console/forgot', handler: serveForgot },
  { method: 'POST', path: '/console/forgot', handler: handleForgot },
  { method: 'GET', path: '/console/sign-up', handler: serveSignUp },
  { method: 'POST', path: '/console/sign-up', handler: handleSignUp },
  { method: 'GET', path: '/console/confirm', handler: serveConfirmation },
  { method: 'POST', path: '/console/confirm', handler: handleConfirmation },
  { method: 'POST', path: '/console/switch', handler: handleSwitch },
  { method: 'POST', path: '/console/proof', handler: handleProof },
  { method: 'POST', path: '/console/code', handler: handleCode },
  { method: 'GET', path: '/console/passkey', handler: servePasskeyPage },
  { method: 'POST', path: '/console/passkey', handler: handlePasskey },
  { method: 'POST', path: '/console/passkey/options', handler: servePasskeyOptions },
  { method: 'GET', path: '/console/oidc/start', handler: startOidc },
  { method: 'GET', path: '/console/oidc/callback', handler: finishOidc },
];
