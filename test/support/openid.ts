import { createSign, generateKeyPairSync, randomUUID, type webcrypto } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

type Key = webcrypto.JsonWebKey & { kid: string };
type Claims = Record<string, unknown>;

/** A person of the provider. */
export interface OpenIdPerson extends Claims {
  sub: string;
}

/** An OpenID provider in the process of the test. Every visitor is signed in as `person`, without a page. */
export interface OpenIdServer {
  issuer: string;
  clientId: string;
  clientSecret: string;
  person: OpenIdPerson;
  /** Changes the claims of ID tokens, which are then signed again with the provider's key. */
  forge: ((claims: Claims) => Claims) | undefined;
  /** While it is down, every request is answered with 503. */
  isDown: boolean;
  /** Whether ID tokens have the claims of the person, or only the userinfo endpoint. */
  hasThinTokens: boolean;
  /** Lets the service at this URL sign people in, as a registration does. */
  register(url: string): void;
  /** Signs with a new key from now on, and forgets the old one. */
  rotateKeys(): void;
  /** What a browser does at the provider: follows its redirects, and returns the URL of the callback. */
  visit(authorizationUrl: string): Promise<string>;
  close(): Promise<void>;
}

const clientId = 'scanlog';
const clientSecret = 'the-secret-of-the-client-in-all-tests';

function newKey(): Key {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return Object.assign(privateKey.export({ format: 'jwk' }), { kid: randomUUID(), use: 'sig', alg: 'RS256' });
}

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

function sign(claims: Claims, key: Key): string {
  const content = `${encoded({ alg: 'RS256', kid: key.kid })}.${encoded(claims)}`;
  return `${content}.${createSign('RSA-SHA256').update(content).sign({ key, format: 'jwk' }, 'base64url')}`;
}

const claimsIn = (token: string): Claims => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

export async function startOpenId(): Promise<OpenIdServer> {
  let handle: (request: IncomingMessage, response: ServerResponse) => void = () => {};
  let key = newKey();
  let serviceUrl = '';
  const http = createServer((request, response) => {
    if (server.isDown) response.writeHead(503).end();
    else handle(request, response);
  });
  await new Promise<void>((resolve) => http.listen(0, 'localhost', resolve));

  const server: OpenIdServer = {
    issuer: `http://localhost:${(http.address() as AddressInfo).port}`,
    clientId,
    clientSecret,
    person: { sub: 'nobody' },
    forge: undefined,
    isDown: false,
    hasThinTokens: false,
    register(url) {
      serviceUrl = url;
      build();
    },
    rotateKeys() {
      key = newKey();
      build();
    },
    visit: (authorizationUrl) => visit(authorizationUrl, `${serviceUrl}/`),
    close: () => new Promise((resolve) => http.close(() => resolve())),
  };

  function build(): void {
    const provider = createProvider(server, serviceUrl, key);
    const callback = provider.callback();
    handle = (request, response) => {
      if (!request.url?.startsWith('/interaction/')) return callback(request, response);
      void provider.interactionFinished(request, response, { login: { accountId: server.person.sub } });
    };
  }
  return server;
}

function createProvider(server: OpenIdServer, serviceUrl: string, key: Key): Provider {
  const provider = new Provider(server.issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [`${serviceUrl}/console/oidc/callback`],
        post_logout_redirect_uris: [`${serviceUrl}/console`],
      },
    ],
    jwks: { keys: [key] },
    claims: { email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
    cookies: { keys: ['cookies'] },
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: true } },
    conformIdTokenClaims: server.hasThinTokens,
    pkce: { required: () => true },
    findAccount: (_, id) => ({ accountId: id, claims: () => server.person }),
    async loadExistingGrant({ oidc }) {
      const grant = new provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
      grant.addOIDCScope('openid email profile groups');
      await grant.save();
      return grant;
    },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    ttl: { AccessToken: 600, AuthorizationCode: 600, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
  });
  provider.use(async (context, next) => {
    await next();
    const body = context.body as { id_token?: string } | undefined;
    if (server.forge !== undefined && context.path === '/token' && body?.id_token !== undefined)
      body.id_token = sign(server.forge(claimsIn(body.id_token)), key);
  });
  return provider;
}

async function visit(start: string, back: string): Promise<string> {
  const cookies: Record<string, string> = {};
  for (let url = start; ; ) {
    const cookie = Object.entries(cookies).map(([name, value]) => `${name}=${value}`);
    const response = await fetch(url, { redirect: 'manual', headers: { cookie: cookie.join('; ') } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies[name] = value;
    }
    const location = response.headers.get('location');
    if (location === null) throw new Error(`the provider answered ${response.status}: ${await response.text()}`);
    url = new URL(location, url).href;
    if (url.startsWith(back)) return url;
  }
}
