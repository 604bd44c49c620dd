import { includesRole, type Role } from '../../events/member.ts';
import { Refusal } from '../lib/errors.ts';
import type { Caller } from './admission.ts';

/** Throws 403 if the role of the person does not include `needed`. */
export function requireRole({ role }: Pick<Caller, 'role'>, needed: Role): void {
  if (includesRole(role, needed)) return;
  throw new Refusal(
    'insufficient_role',
    `This needs the role ${needed}, and you are ${role} of this account: ask an owner for it.`,
  );
}

/** How long a proof counts for what could hand over the account. */
export const proofMinutes = 15;

/** Throws 403 for a session whose last proof is too old. A request with a key proves itself. */
export function requireProof({ isProven = true }: Pick<Caller, 'isProven'>): void {
  if (isProven) return;
  throw new Refusal(
    'reauthentication_required',
    `You last proved who you are more than ${proofMinutes} minutes ago: do it again, then repeat the request.`,
  );
}
