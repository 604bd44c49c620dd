import { type Role, roles } from '../../events/member.ts';
import { boolean, type Reader, text } from '../lib/setting-readers.ts';
import { setting } from './setting.ts';

/** The role of people whose groups have none of their own. */
const everyone = '*';

/** Roles by the group that gives them. */
export interface RoleMap {
  groups: Record<string, Role>;
  /** Of those who are in none of the groups; undefined if they have no access. */
  others: Role | undefined;
}

/** Kept as it is given, since a provider's issuer may end with a slash. */
const issuer: Reader<string> = (given) => {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isLocal = url?.protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  return url !== undefined && (url.protocol === 'https:' || isLocal) && !/[?#@\s]/.test(given)
    ? { value: given }
    : { must: 'be an https: URL without user, query and fragment, such as https://login.example.com/realms/main' };
};

const scopes: Reader<string> = (given) =>
  given.split(' ').includes('openid') && !given.includes(',')
    ? { value: given }
    : { must: 'be a list that is separated by spaces and has openid in it, such as openid email profile' };

const roleMap: Reader<RoleMap> = (given) => {
  const map: RoleMap = { groups: {}, others: undefined };
  for (const pair of given.split(',')) {
    const [, name = '', word] = /^\s*(.+?)\s*=\s*(\w+)\s*$/.exec(pair) ?? [];
    const role = roles.find((candidate) => candidate === word);
    if (role === undefined)
      return { must: 'be a list such as qr-admins=owner,marketing=editor,*=viewer, with "*" for all others' };
    if (name === everyone) map.others = role;
    else map.groups[name] = role;
  }
  return { value: map };
};

const account: Reader<string> = (given) =>
  /^acct_[0-9A-Za-z]{20,40}$/.test(given)
    ? { value: given }
    : { must: 'be the id of an account, acct_…; ./scanlog account list shows them' };

/** Sign-in at an OpenID provider. */
export const oidcSettings = {
  oidcIssuer: setting({
    variable: 'OIDC_ISSUER',
    read: issuer,
    about:
      'Issuer URL of an OpenID provider at which people can sign in ([how](people-sign-in.md#openid-connect)), which `/.well-known/openid-configuration` is appended to.',
  }),
  oidcClientId: setting({
    variable: 'OIDC_CLIENT_ID',
    read: text,
    about:
      'Identifier of this service at the provider. Its redirect URI is the public URL and `/console/oidc/callback`.',
  }),
  oidcClientSecret: setting({
    variable: 'OIDC_CLIENT_SECRET',
    isSecret: true,
    read: text,
    about: 'Secret of `OIDC_CLIENT_ID`. Without it the client is public, which PKCE protects.',
  }),
  oidcScopes: setting({
    variable: 'OIDC_SCOPES',
    read: scopes,
    fallback: 'openid email profile',
    about: 'Scopes that are requested from the provider, separated by spaces.',
  }),
  oidcRoleClaim: setting({
    variable: 'OIDC_ROLE_CLAIM',
    read: text,
    about: 'Claim with the groups of a person, a text or a list, such as `groups` or `realm_access.roles`.',
  }),
  oidcRoleMap: setting({
    variable: 'OIDC_ROLE_MAP',
    read: roleMap,
    about:
      'Roles in `OIDC_ACCOUNT` by group, such as `qr-admins=owner,marketing=editor,*=viewer`; the highest counts, and `*` is for all others.',
  }),
  oidcAccount: setting({
    variable: 'OIDC_ACCOUNT',
    read: account,
    about:
      'Account that people of the provider become members of. Without it, only people who are known already can sign in.',
  }),
  oidcOnly: setting({
    variable: 'OIDC_ONLY',
    read: boolean,
    fallback: 'false',
    about:
      'Whether people can sign in at the provider only, not with a password or passkey: `true` or `false`. Links of `./scanlog user reset` and API keys keep working.',
  }),
};

/** How people sign in at the provider. */
export interface OidcSettings {
  issuer: string;
  clientId: string;
  clientSecret: string | undefined;
  scopes: string;
  roleClaim: string | undefined;
  roleMap: RoleMap | undefined;
  account: string | undefined;
  isOnly: boolean;
}

interface OidcConfig {
  oidcIssuer: string | undefined;
  oidcClientId: string | undefined;
  oidcClientSecret: string | undefined;
  oidcScopes: string;
  oidcRoleClaim: string | undefined;
  oidcRoleMap: RoleMap | undefined;
  oidcAccount: string | undefined;
  oidcOnly: boolean;
}

/** The settings of the provider; undefined if there is none. */
export function oidcOf(config: OidcConfig): OidcSettings | undefined {
  const { oidcIssuer, oidcClientId } = config;
  if (oidcIssuer === undefined || oidcClientId === undefined) return undefined;
  return {
    issuer: oidcIssuer,
    clientId: oidcClientId,
    clientSecret: config.oidcClientSecret,
    scopes: config.oidcScopes,
    roleClaim: config.oidcRoleClaim,
    roleMap: config.oidcRoleMap,
    account: config.oidcAccount,
    isOnly: config.oidcOnly,
  };
}

/** One sentence for each setting that does not fit the others. */
export function oidcProblems(config: Partial<OidcConfig>): string[] {
  const { oidcIssuer, oidcClientId, oidcClientSecret, oidcRoleClaim, oidcRoleMap, oidcAccount, oidcOnly } = config;
  if (oidcIssuer === undefined) {
    const given = { oidcClientId, oidcClientSecret, oidcRoleClaim, oidcRoleMap, oidcAccount, oidcOnly };
    const names = (Object.keys(given) as (keyof typeof given)[]).filter((key) => given[key]);
    return names.map((key) => `${oidcSettings[key].variable} has no effect without OIDC_ISSUER: set both or neither.`);
  }
  const hasGroups = oidcRoleMap !== undefined && Object.keys(oidcRoleMap.groups).length > 0;
  const problems: [boolean, string][] = [
    [oidcClientId === undefined, 'OIDC_CLIENT_ID must be set: the provider of OIDC_ISSUER gives it to this service.'],
    [
      oidcRoleMap !== undefined && oidcAccount === undefined,
      'OIDC_ACCOUNT must be set: the roles of OIDC_ROLE_MAP are roles in that account.',
    ],
    [
      oidcAccount !== undefined && oidcRoleMap === undefined,
      'OIDC_ROLE_MAP must be set: it gives people their roles in OIDC_ACCOUNT, such as *=viewer.',
    ],
    [
      hasGroups && oidcRoleClaim === undefined,
      'OIDC_ROLE_CLAIM must be set: it names the claim that has the groups of OIDC_ROLE_MAP.',
    ],
    [
      !hasGroups && oidcRoleClaim !== undefined,
      'OIDC_ROLE_CLAIM has no effect without groups in OIDC_ROLE_MAP: set both or neither.',
    ],
  ];
  return problems.filter(([isProblem]) => isProblem).map(([, sentence]) => sentence);
}
