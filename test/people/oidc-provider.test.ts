import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createAccount } from '../../src/accounts/accounts.ts';
import { readConfig } from '../../src/config/config.ts';
import { oidcOf } from '../../src/config/oidc-settings.ts';
import { createLink, findLink } from '../../src/people/links.ts';
import { findPerson } from '../../src/people/oidc/find-person.ts';
import { type Identity, OidcProvider, ProviderUnavailable, SignInInvalid } from '../../src/people/oidc/provider.ts';
import { useDatabase } from '../support/database.ts';
import { startOpenId } from '../support/openid.ts';

const server = await startOpenId();
const service = 'http://localhost:3000';
server.register(service);
const database = useDatabase();
afterAll(() => server.close());
afterEach(() => {
  server.forge = undefined;
  server.isDown = false;
});

function newProvider(): OidcProvider {
  const settings = oidcOf(
    readConfig({
      OIDC_ISSUER: server.issuer,
      OIDC_CLIENT_ID: server.clientId,
      OIDC_CLIENT_SECRET: server.clientSecret,
      OIDC_SCOPES: 'openid email profile groups',
    }),
  );
  if (settings === undefined) throw new Error('no provider');
  return new OidcProvider(settings, () => new Date());
}

const newChecks = (isAgain = false) => ({
  state: randomUUID(),
  nonce: randomUUID(),
  verifier: `${randomUUID()}-${randomUUID()}`,
  isAgain,
});

/** A sign-in up to the URL that the provider sends the browser to. */
async function begin(provider: OidcProvider, checks = newChecks()) {
  const url = await provider.authorizationUrl(`${service}/console/oidc/callback`, checks);
  return { checks, callback: new URL(await server.visit(url)) };
}

async function identify(provider = newProvider()): Promise<Identity> {
  const { checks, callback } = await begin(provider);
  return provider.identify(callback, checks);
}

const ada = () => ({ sub: randomUUID(), email: `${randomUUID()}@example.com`, email_verified: true, name: 'Ada' });

describe('a provider', () => {
  test('says who signed in, with PKCE, state and nonce', async () => {
    const person = Object.assign(ada(), { groups: ['marketing'] });
    server.person = person;
    const provider = newProvider();
    const checks = newChecks();
    const url = new URL(await provider.authorizationUrl(`${service}/console/oidc/callback`, checks));
    expect(url.searchParams.get('code_challenge_method')).toBe('S256');
    expect(url.href).not.toContain(checks.verifier);
    expect(await provider.identify(new URL(await server.visit(url.href)), checks)).toMatchObject({
      issuer: server.issuer,
      subject: person.sub,
      email: person.email,
      isEmailVerified: true,
      name: 'Ada',
      claims: { groups: ['marketing'] },
    });
  });

  test('may keep claims for its userinfo endpoint', async () => {
    const person = ada();
    server.person = person;
    server.hasThinTokens = true;
    server.register(service);
    expect(await identify()).toMatchObject({ subject: person.sub, email: person.email, isEmailVerified: true });
    server.hasThinTokens = false;
    server.register(service);
  });

  test('is asked for a new proof', async () => {
    server.person = ada();
    const provider = newProvider();
    const { checks, callback } = await begin(provider, newChecks(true));
    expect(await provider.identify(callback, checks)).toMatchObject({ subject: server.person.sub });
    server.forge = (claims) => Object.assign(claims, { auth_time: Math.floor(Date.now() / 1000) - 3_600 });
    const stale = await begin(provider, newChecks(true));
    await expect(provider.identify(stale.callback, stale.checks)).rejects.toThrow(SignInInvalid);
  });

  test.each([
    ['another issuer', { iss: 'https://elsewhere.example.com' }],
    ['another audience', { aud: 'another-client' }],
    ['no time left', { exp: Math.floor(Date.now() / 1000) - 3_600 }],
    ['another nonce', { nonce: 'of-another-sign-in' }],
  ])('is not believed if its ID token has %s', async (_, claims) => {
    server.person = ada();
    server.forge = (given) => Object.assign(given, claims);
    await expect(identify()).rejects.toThrow(SignInInvalid);
  });

  test('is not believed with a state, code or verifier of another sign-in', async () => {
    server.person = ada();
    const provider = newProvider();
    const { checks, callback } = await begin(provider);
    const other = await begin(provider);
    await expect(provider.identify(callback, other.checks)).rejects.toThrow(SignInInvalid);
    const mixed = new URL(callback);
    mixed.searchParams.set('code', other.callback.searchParams.get('code') ?? '');
    await expect(provider.identify(mixed, checks)).rejects.toThrow(SignInInvalid);
  });

  test('accepts a code once', async () => {
    server.person = ada();
    const provider = newProvider();
    const { checks, callback } = await begin(provider);
    await provider.identify(callback, checks);
    await expect(provider.identify(callback, checks)).rejects.toThrow(SignInInvalid);
  });

  test('can rotate its keys', async () => {
    const person = ada();
    server.person = person;
    const provider = newProvider();
    await identify(provider);
    server.rotateKeys();
    expect(await identify(provider)).toMatchObject({ subject: person.sub });
  });

  test('is not believed with a key that it does not publish', async () => {
    server.person = ada();
    const provider = newProvider();
    server.forge = (claims) => {
      server.rotateKeys();
      return claims;
    };
    await expect(identify(provider)).rejects.toThrow(SignInInvalid);
  });

  test('can be down, at the start and in between', async () => {
    server.person = ada();
    const provider = newProvider();
    server.isDown = true;
    await expect(begin(provider)).rejects.toThrow(ProviderUnavailable);
    server.isDown = false;
    const { checks, callback } = await begin(provider);
    server.isDown = true;
    await expect(provider.identify(callback, checks)).rejects.toThrow(ProviderUnavailable);
  });

  test('can refuse a sign-in', async () => {
    const provider = newProvider();
    const checks = newChecks();
    const denied = `${service}/console/oidc/callback?error=access_denied&state=${checks.state}&iss=${server.issuer}`;
    await expect(provider.identify(new URL(denied), checks)).rejects.toMatchObject({ isRefused: true });
  });

  test('has a page that ends its session', async () => {
    const url = new URL((await newProvider().signOutUrl(`${service}/console`)) ?? '');
    expect(url.origin).toBe(server.issuer);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: server.clientId,
      post_logout_redirect_uri: `${service}/console`,
    });
  });
});

describe('the person of an identity', () => {
  const now = new Date();
  const identity = (changes: Partial<Identity> = {}): Identity => {
    const { sub, email, name } = ada();
    return Object.assign(
      {
        issuer: server.issuer,
        subject: sub,
        email,
        isEmailVerified: true,
        name,
        authenticatedAt: undefined,
        claims: {},
      },
      changes,
    );
  };
  let account: string;
  beforeAll(async () => {
    account = (await createAccount(database.sql, { name: 'Café', plan: 'pro', now })).id;
  });
  const find = (of: Identity, mayCreate = true) =>
    findPerson(database.sql, of, { joining: mayCreate ? { account, role: 'editor' } : undefined, origin: { now } });
  async function newUser(email: string, confirmedAt: Date | null = now): Promise<string> {
    const id = `usr_${randomUUID().replaceAll('-', '')}`;
    await database.sql`
      INSERT INTO users (id, name, email, email_confirmed_at, password_hash, created_at)
      VALUES (${id}, 'Ada', ${email}, ${confirmedAt}, 'hash', ${now})`;
    return id;
  }
  const userOf = async (id: string) => (await database.sql`SELECT * FROM users WHERE id = ${id}`)[0];

  test('is created once, and then known by issuer and subject whatever the address is', async () => {
    const given = identity();
    const first = await find(given);
    expect(first).toMatchObject({ how: 'created' });
    const renamed = identity({ subject: given.subject, email: 'another@example.com', isEmailVerified: false });
    expect(await find(renamed, false)).toEqual(Object.assign({}, first, { how: 'known' }));
  });

  test('is created once by simultaneous sign-ins', async () => {
    const given = identity();
    const found = await Promise.all([find(given), find(given), find(given)]);
    expect(found.filter((one) => 'how' in one && one.how === 'created')).toHaveLength(1);
  });

  test('is linked by a verified address', async () => {
    const given = identity();
    const user = await newUser(given.email?.toUpperCase() ?? '');
    expect(await find(given)).toEqual({ user, how: 'linked' });
    expect(await userOf(user)).toMatchObject({ password_hash: 'hash' });
  });

  test('loses what was set up under an address that was never confirmed', async () => {
    const given = identity();
    const user = await newUser(given.email ?? '', null);
    const { token } = await createLink(database.sql, 'reset', { user }, now);
    expect(await find(given)).toEqual({ user, how: 'linked' });
    expect(await userOf(user)).toMatchObject({ password_hash: null, email_confirmed_at: now });
    expect(await findLink(database.sql, 'reset', token, now), 'a link that sets a password').toBeUndefined();
  });

  test('is not linked by an address that is not verified', async () => {
    const given = identity({ isEmailVerified: false });
    await newUser(given.email ?? '');
    expect(await find(given)).toEqual({ refused: 'email_not_verified' });
  });

  test('keeps the first identity of the provider: another subject with the same address is refused', async () => {
    const given = identity();
    await find(given);
    expect(await find(identity({ email: given.email }))).toEqual({ refused: 'other_identity' });
    const elsewhere = identity({ email: given.email, issuer: 'https://another.example.com' });
    expect(await find(elsewhere)).toMatchObject({ how: 'linked' });
  });

  test('is not created without a role or an address', async () => {
    expect(await find(identity(), false)).toEqual({ refused: 'unknown' });
    expect(await find(identity({ email: undefined }))).toEqual({ refused: 'no_email' });
    expect(await find(identity({ email: 'ada' }))).toEqual({ refused: 'no_email' });
  });

  test('is named after the address if the provider sends no name that a person can have', async () => {
    const given = identity({ name: 'x'.repeat(300) });
    const found = await find(given);
    expect('user' in found && (await userOf(found.user))).toMatchObject({ name: given.email });
  });
});
