import { type Role, roles } from '../../../events/member.ts';
import type { OidcSettings } from '../../config/oidc-settings.ts';

/** What the provider's claims say about the role of a person. */
export type RoleGiven =
  /** The groups give this role, to new and known people alike. */
  | { by: 'groups'; role: Role }
  /** There are no groups: new people get this role, and known people keep theirs. */
  | { by: 'default'; role: Role | undefined }
  /** The groups give no role. */
  | { by: 'groups'; role: undefined };

/** The role that claims give by the role map; the highest, if there are several. */
export function roleOf(
  claims: Record<string, unknown>,
  { roleClaim, roleMap }: Pick<OidcSettings, 'roleClaim' | 'roleMap'>,
): RoleGiven {
  const groups = roleClaim === undefined ? undefined : groupsOf(claimOf(claims, roleClaim));
  if (groups === undefined) return { by: 'default', role: roleMap?.others };
  const given = groups.flatMap((group) => {
    const role = Object.entries(roleMap?.groups ?? {}).find(([name]) => name === group)?.[1];
    return role === undefined ? [] : [role];
  });
  return { by: 'groups', role: roles.find((role) => given.includes(role)) ?? roleMap?.others };
}

/** A claim by its name, or by a path such as `realm_access.roles`. */
function claimOf(claims: Record<string, unknown>, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  return name.split('.').reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), claims);
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** A provider sends one group as a text or as a list; anything else is no claim about groups. */
function groupsOf(value: unknown): string[] | undefined {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : undefined;
}
