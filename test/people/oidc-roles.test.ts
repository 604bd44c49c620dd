import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { oidcOf } from '../../src/config/oidc-settings.ts';
import { roleOf } from '../../src/people/oidc/roles.ts';

const account = 'acct_00000000000000000000';
const provider = { OIDC_ISSUER: 'https://login.example.com/', OIDC_CLIENT_ID: 'scanlog' };

const settingsOf = (map: string, claim = 'groups') => {
  const environment = { OIDC_ROLE_CLAIM: claim, OIDC_ROLE_MAP: map, OIDC_ACCOUNT: account };
  const settings = oidcOf(readConfig(Object.assign(environment, provider)));
  if (settings === undefined) throw new Error('no provider');
  return settings;
};

describe('roleOf', () => {
  const settings = settingsOf('/qr admins=owner, marketing = editor,*=viewer');

  test.each([
    ['a text', { groups: 'marketing' }, 'editor'],
    ['a list', { groups: ['other', 'marketing'] }, 'editor'],
    ['several groups, of which the highest counts', { groups: ['marketing', '/qr admins'] }, 'owner'],
    ['no known group', { groups: ['other'] }, 'viewer'],
    ['an empty list', { groups: [] }, 'viewer'],
    ['a group with the name of an inherited property', { groups: ['constructor'] }, 'viewer'],
  ])('takes %s', (_, claims, role) => {
    expect(roleOf(claims, settings)).toEqual({ by: 'groups', role });
  });

  test.each([
    ['absent', {}],
    ['null', { groups: null }],
    ['a number', { groups: 7 }],
  ])('gives only new people a role if the claim is %s', (_, claims) => {
    expect(roleOf(claims, settings)).toEqual({ by: 'default', role: 'viewer' });
  });

  test('gives no role to people who are in no group, without "*"', () => {
    const strict = settingsOf('marketing=editor');
    expect(roleOf({ groups: ['other'] }, strict)).toEqual({ by: 'groups', role: undefined });
    expect(roleOf({}, strict)).toEqual({ by: 'default', role: undefined });
  });

  test('finds a nested claim by its path, and one whose name has dots', () => {
    const nested = settingsOf('marketing=editor', 'realm_access.roles');
    expect(roleOf({ realm_access: { roles: ['marketing'] } }, nested)).toEqual({ by: 'groups', role: 'editor' });
    expect(roleOf({ 'realm_access.roles': 'marketing' }, nested)).toEqual({ by: 'groups', role: 'editor' });
    expect(roleOf({ realm_access: 'none' }, nested)).toEqual({ by: 'default', role: undefined });
  });
});

describe('settings of the provider', () => {
  test.each([
    [{ OIDC_CLIENT_ID: 'scanlog' }, 'OIDC_CLIENT_ID has no effect without OIDC_ISSUER'],
    [{ OIDC_ONLY: 'true' }, 'OIDC_ONLY has no effect without OIDC_ISSUER'],
    [{ OIDC_ISSUER: 'https://login.example.com' }, 'OIDC_CLIENT_ID must be set'],
    [{ OIDC_ISSUER: 'http://login.example.com' }, 'OIDC_ISSUER must be an https: URL'],
    [{ OIDC_ISSUER: 'https://login.example.com?realm=a' }, 'OIDC_ISSUER must be an https: URL'],
    [{ OIDC_SCOPES: 'email' }, 'OIDC_SCOPES must be a list'],
    [{ OIDC_ROLE_MAP: 'marketing=boss' }, 'OIDC_ROLE_MAP must be a list such as'],
    [{ OIDC_ACCOUNT: 'mine' }, 'OIDC_ACCOUNT must be the id of an account'],
    [Object.assign({ OIDC_ACCOUNT: account }, provider), 'OIDC_ROLE_MAP must be set'],
    [Object.assign({ OIDC_ROLE_MAP: '*=viewer' }, provider), 'OIDC_ACCOUNT must be set'],
    [Object.assign({ OIDC_ROLE_MAP: 'a=viewer', OIDC_ACCOUNT: account }, provider), 'OIDC_ROLE_CLAIM must be set'],
    [Object.assign({ OIDC_ROLE_CLAIM: 'groups' }, provider), 'OIDC_ROLE_CLAIM has no effect without groups'],
  ])('%j stop the start with one sentence', (environment, sentence) => {
    expect(() => readConfig(environment)).toThrow(sentence);
  });

  test('keep the slash at the end of an issuer, and may be few', () => {
    expect(oidcOf(readConfig(provider))).toMatchObject({ issuer: 'https://login.example.com/', isOnly: false });
    expect(oidcOf(readConfig({}))).toBeUndefined();
  });
});
