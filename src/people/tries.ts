import { type Admission, admitted, countInWindow } from '../accounts/admission.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { Sql } from '../lib/sql.ts';
import { type Device, isKnownDevice } from './devices.ts';
import type { User } from './users.ts';

/** Tries in a minute: with one address from all unknown devices together, and with one person from a known device. */
const maxTries = 10;

/**
 * Counts a try to sign in with an address. A device on which the person signed in before has its own count, so that tries from
 * elsewhere do not lock the person out. Takes the same for an address that no one has.
 */
export async function countTry(
  sql: Sql,
  box: SecretBox,
  { email, user, device }: { email: string; user: User | undefined; device: Device | undefined },
): Promise<Admission['refusal']> {
  const isKnown = isKnownDevice(box, device, user?.id ?? '');
  const subject = isKnown ? `device/${device.id}` : `email/${email.trim().toLowerCase()}`;
  const window = await countInWindow(sql, `sign-in/${box.tokenOf(subject)}`);
  return admitted(maxTries, window, undefined, undefined, 'tries to sign in').refusal;
}
