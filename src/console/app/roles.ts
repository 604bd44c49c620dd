import type { Role } from '../../../events/member.ts';
import type { Scope } from '../../../events/scopes.ts';
import { access, type OperationId } from '../../api/http/access.ts';

export type { Role } from '../../../events/member.ts';

/** What members may do, for the people who choose a role. */
export const roleTexts: Record<Role, { name: string; article: string; can: string }> = {
  viewer: {
    name: 'Viewer',
    article: 'a viewer',
    can: 'Can view codes, analytics and the audit log, and change nothing.',
  },
  editor: {
    name: 'Editor',
    article: 'an editor',
    can: 'Can view everything that a viewer can, and change codes, logos, tags and shared pages.',
  },
  owner: {
    name: 'Owner',
    article: 'an owner',
    can: 'Can do everything, including members, API keys, webhooks and domains.',
  },
};

/** The least first. */
export const roles: readonly Role[] = ['viewer', 'editor', 'owner'];

export const includesRole = (own: Role, needed: Role): boolean => roles.indexOf(own) >= roles.indexOf(needed);

/** The operations that need a scope. */
type OperationWith<S extends Scope> = {
  [Id in OperationId]: (typeof access)[Id]['scope'] extends S ? Id : never;
}[OperationId];

/** One operation for each scope. What the console shows for a scope needs the role of that operation. */
const operationOf: { [S in Scope]: OperationWith<S> } = {
  'codes.read': 'listQrCodes',
  'codes.write': 'updateQrCode',
  'analytics.read': 'getAggregateAnalytics',
  'events.read': 'listAuditEvents',
  'webhooks.write': 'listWebhooks',
  'domains.write': 'addDomain',
  'account.read': 'getAccount',
  'account.write': 'updateAccount',
};

export const roleOf = (scope: Scope): Role => access[operationOf[scope]].role;
