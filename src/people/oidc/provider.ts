import type { Configuration, CustomFetch, ServerMetadata } from 'openid-client';
import type { OidcSettings } from '../../config/oidc-settings.ts';
import type { Clock } from '../../lib/clock.ts';
import { codeOf, messageOf } from '../../lib/errors.ts';
import { timeouts } from '../../lib/timeouts.ts';

/** The provider cannot be reached, answers with an error of its own, or is not the one of OIDC_ISSUER. */
export class ProviderUnavailable extends Error {}

/** The provider refused the sign-in, or its response is not valid. */
export class SignInInvalid extends Error {
  /** Whether the person or the provider ended the sign-in, as with "access denied". */
  readonly isRefused: boolean;

  constructor(message: string, isRefused: boolean) {
    super(message);
    this.isRefused = isRefused;
  }
}

/** What a sign-in is begun with, and its response is compared with. */
export interface Checks {
  state: string;
  nonce: string;
  verifier: string;
  /** Whether the person has to prove again who they are, also if the provider knows them. */
  isAgain: boolean;
}

/** Who signed in, as the provider says. */
export interface Identity {
  issuer: string;
  subject: string;
  email: string | undefined;
  isEmailVerified: boolean;
  name: string | undefined;
  /** When the person last proved who they are, if the provider says so: it may have known them for weeks. */
  authenticatedAt: Date | undefined;
  claims: Record<string, unknown>;
}

const metadataMinutes = 5;
/** How long ago a proof may be that was asked for again. */
const proofSeconds = 900;
/** How long ago any other may be. A request with a limit makes providers say when it was (OpenID Connect Core, 2). */
const signInSeconds = 90 * 86_400;

/** An OpenID provider. Nothing is read from it before the first sign-in, so the service starts without it. */
export class OidcProvider {
  readonly settings: OidcSettings;
  readonly #clock: Clock;
  #metadata: { value: ServerMetadata; until: number } | undefined;

  constructor(settings: OidcSettings, clock: Clock) {
    this.settings = settings;
    this.#clock = clock;
  }

  get host(): string {
    return new URL(this.settings.issuer).host;
  }

  /** Where the browser is sent to sign in. Throws `ProviderUnavailable`. */
  async authorizationUrl(redirectUri: string, { state, nonce, verifier, isAgain }: Checks): Promise<string> {
    const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await import('openid-client');
    const parameters = {
      redirect_uri: redirectUri,
      scope: this.settings.scopes,
      state,
      nonce,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    };
    const again = isAgain ? { prompt: 'login', max_age: String(proofSeconds) } : { max_age: String(signInSeconds) };
    return buildAuthorizationUrl(await this.#configuration(), Object.assign(parameters, again)).href;
  }

  /** Exchanges the code in the URL that the provider sent the browser to. Throws `SignInInvalid` or `ProviderUnavailable`. */
  async identify(callback: URL, { state, nonce, verifier, isAgain }: Checks): Promise<Identity> {
    const configuration = await this.#configuration();
    const { authorizationCodeGrant, AuthorizationResponseError } = await import('openid-client');
    try {
      const tokens = await authorizationCodeGrant(configuration, callback, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
        ...(isAgain ? { maxAge: proofSeconds } : {}),
      });
      const idToken = tokens.claims();
      if (idToken === undefined) throw new SignInInvalid('the provider sent no ID token', false);
      return identityOf(await this.#withUserInfo(configuration, tokens.access_token, idToken), this.settings.issuer);
    } catch (error) {
      throwIfUnavailable(error);
      throw new SignInInvalid(describe(error), error instanceof AuthorizationResponseError);
    }
  }

  /** Where the browser is sent to end its session at the provider; undefined if the provider has no such page. */
  async signOutUrl(returnTo: string): Promise<string | undefined> {
    const { buildEndSessionUrl } = await import('openid-client');
    const configuration = await this.#configuration();
    if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
    return buildEndSessionUrl(configuration, { post_logout_redirect_uri: returnTo }).href;
  }

  /** Adds claims that some providers have only at the userinfo endpoint; claims of the ID token win, because they are signed. */
  async #withUserInfo<T extends { sub: string }>(configuration: Configuration, accessToken: string, idToken: T) {
    const { roleClaim } = this.settings;
    const isComplete = 'email' in idToken && (roleClaim === undefined || roleClaim in idToken);
    if (isComplete || configuration.serverMetadata().userinfo_endpoint === undefined) return idToken;
    const { fetchUserInfo } = await import('openid-client');
    const userInfo = await fetchUserInfo(configuration, accessToken, idToken.sub);
    // An address counts as verified only by the response that has it.
    const { email, email_verified } = ('email' in idToken ? idToken : userInfo) as Record<string, unknown>;
    return Object.assign({}, userInfo, idToken, { email, email_verified });
  }

  /** A configuration without keys in it: they are read for each sign-in, so a rotation at the provider takes effect at once. */
  async #configuration(): Promise<Configuration> {
    const client = await import('openid-client');
    const { clientId, clientSecret, issuer } = this.settings;
    const metadata = await this.#readMetadata();
    const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const authenticate =
      clientSecret === undefined
        ? client.None()
        : methods.includes('client_secret_basic')
          ? client.ClientSecretBasic(clientSecret)
          : client.ClientSecretPost(clientSecret);
    const configuration = new client.Configuration(metadata, clientId, undefined, authenticate);
    configuration.timeout = timeouts.oidcMs / 1000;
    configuration[client.customFetch] = fetchFromProvider;
    if (issuer.startsWith('http:')) client.allowInsecureRequests(configuration);
    client.enableNonRepudiationChecks(configuration);
    return configuration;
  }

  async #readMetadata(): Promise<ServerMetadata> {
    const now = this.#clock().getTime();
    if (this.#metadata !== undefined && this.#metadata.until > now) return this.#metadata.value;
    const client = await import('openid-client');
    const { issuer, clientId } = this.settings;
    const isLocal = issuer.startsWith('http:');
    try {
      const found = await client.discovery(new URL(issuer), clientId, undefined, undefined, {
        timeout: timeouts.oidcMs / 1000,
        [client.customFetch]: fetchFromProvider,
        execute: isLocal ? [client.allowInsecureRequests] : [],
      });
      const value = found.serverMetadata();
      this.#metadata = { value, until: now + metadataMinutes * 60_000 };
      return value;
    } catch (error) {
      throw new ProviderUnavailable(describe(error));
    }
  }
}

const fetchFromProvider: CustomFetch = async (url, options) => {
  // The library describes the body as all runtimes take it; it is a form or none.
  const response = await fetch(url, options as RequestInit).catch((error) => {
    throw new ProviderUnavailable(`${new URL(url).host} cannot be reached: ${codeOf(error) || messageOf(error)}`);
  });
  if (response.status >= 500) throw new ProviderUnavailable(`${new URL(url).host} answered ${response.status}`);
  return response;
};

/** The library wraps errors of its requests. */
function throwIfUnavailable(error: unknown): void {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof ProviderUnavailable) throw cause;
}

/** The messages of an error and its causes, for the operator: they name claims, and hold neither codes nor tokens. */
function describe(error: unknown): string {
  const messages: string[] = [];
  for (let cause = error; cause instanceof Error; cause = cause.cause) messages.push(messageOf(cause));
  const reason = error instanceof Error && 'error' in error ? ` (${String(error.error)})` : '';
  return `${[...new Set(messages)].join(': ')}${reason}`;
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;

interface Claims {
  sub: string;
  email?: unknown;
  email_verified?: unknown;
  name?: unknown;
  auth_time?: unknown;
  [claim: string]: unknown;
}

const identityOf = (claims: Claims, issuer: string): Identity => ({
  issuer,
  subject: claims.sub,
  email: textOf(claims.email),
  isEmailVerified: claims.email_verified === true,
  name: textOf(claims.name),
  authenticatedAt: typeof claims.auth_time === 'number' ? new Date(claims.auth_time * 1_000) : undefined,
  claims,
});
