declare module 'oidc-provider' {
  import type { webcrypto } from 'node:crypto';
  import type { IncomingMessage, ServerResponse } from 'node:http';

  interface Context {
    path: string;
    body: unknown;
    oidc: { session: { accountId?: string }; client: { clientId: string } };
  }

  interface Grant {
    addOIDCScope(scope: string): void;
    save(): Promise<string>;
  }

  export default class Provider {
    constructor(
      issuer: string,
      configuration: {
        clients: Record<string, unknown>[];
        jwks: { keys: webcrypto.JsonWebKey[] };
        claims: Record<string, string[]>;
        cookies: { keys: string[] };
        features: Record<string, { enabled: boolean }>;
        conformIdTokenClaims?: boolean;
        pkce: { required(): boolean };
        findAccount(
          context: Context,
          id: string,
        ): { accountId: string; claims(): { sub: string; [claim: string]: unknown } };
        loadExistingGrant(context: Context): Promise<Grant>;
        interactions: { url(context: Context, interaction: { uid: string }): string };
        ttl: Record<string, number>;
      },
    );
    Grant: new (of: {
      clientId: string;
      accountId: string | undefined;
    }) => Grant;
    use(middleware: (context: Context, next: () => Promise<void>) => Promise<void>): void;
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: { login: { accountId: string } },
    ): Promise<void>;
  }
}
