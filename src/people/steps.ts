import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../lib/clock.ts';
import { Sealer, sealerKeys } from '../lib/sealed-text.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { Sql } from '../lib/sql.ts';

/** What the browser keeps between the two requests of a step, by step. */
export interface Steps {
  /** From the start of a sign-in at the OpenID provider until the provider sends the person back. */
  oidc: {
    state: string;
    nonce: string;
    verifier: string;
    next: string;
    isAgain: boolean;
    /** The account to open; by default the one of the last session. */
    account?: string | undefined;
  };
  /** From the right password until the code of the second factor. */
  code: { user: string; by: 'password' | 'link'; next: string; isOwnDevice: boolean; account?: string | undefined };
  /** From the challenge until the response of a passkey: who is signing in is not known yet. */
  passkey: { challenge: string };
  /** From the challenge until the new passkey of a person. */
  registration: { user: string; challenge: string };
}

export const stepMinutes = 10;
const version = 1;

interface Content {
  data: unknown;
  expires: number;
  /** Makes two steps with the same data different. */
  salt: string;
}

/**
 * Steps of sign-ins that the browser carries: it can neither read nor change them, each is valid for ten minutes on every
 * instance, and can be completed once.
 *
 * @example
 * const text = steps.begin('passkey', { challenge });
 * const step = steps.read('passkey', text); // { challenge }
 * if (step !== undefined && (await steps.complete(text))) signIn();
 */
export class SignInSteps {
  readonly #sql: Sql;
  readonly #sealer: Sealer;
  readonly #clock: Clock;

  constructor(sql: Sql, { stepKey }: SecretBox, clock: Clock) {
    this.#sql = sql;
    this.#sealer = new Sealer(sealerKeys(stepKey, 'step'), version);
    this.#clock = clock;
  }

  begin<S extends keyof Steps>(step: S, data: Steps[S]): string {
    const expires = this.#clock().getTime() + stepMinutes * 60_000;
    const content: Content = { data, expires, salt: randomBytes(9).toString('base64url') };
    return this.#sealer.seal(step, Buffer.from(JSON.stringify(content)));
  }

  /** The data of a step; undefined if it has expired or was not begun here. */
  read<S extends keyof Steps>(step: S, text: string): Steps[S] | undefined {
    const plain = this.#sealer.open(step, text);
    if (plain === undefined) return undefined;
    const { data, expires }: Content = JSON.parse(plain.toString());
    // Not checked further: `begin` has sealed it for the same step.
    return expires > this.#clock().getTime() ? (data as Steps[S]) : undefined;
  }

  /** Whether the step is completed by this call, and not by an earlier one. */
  async complete(text: string): Promise<boolean> {
    const now = this.#clock();
    const hash = createHash('sha256').update(text).digest('base64url');
    const expires = new Date(now.getTime() + stepMinutes * 60_000);
    const rows = await this.#sql`
      INSERT INTO completed_steps (hash, expires_at) VALUES (${hash}, ${expires}) ON CONFLICT DO NOTHING RETURNING hash`;
    return rows.length > 0;
  }
}
