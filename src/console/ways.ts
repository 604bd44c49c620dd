import type { Console } from './context.ts';
import { mailsLinks } from './people/forgot.ts';

/** How people can sign in besides a key. */
export interface Ways {
  /** The host of the OpenID provider. */
  provider: string | undefined;
  hasPasswords: boolean;
  hasPasskeys: boolean;
  /** Whether a person who forgot the password can have a link mailed. */
  mailsLinks: boolean;
}

export function waysOf(console: Pick<Console, 'service' | 'oidc' | 'site'>): Ways {
  const { oidc, site } = console;
  const isOnly = oidc?.settings.isOnly === true;
  return {
    provider: oidc?.host,
    hasPasswords: !isOnly,
    hasPasskeys: !isOnly && !('reason' in site),
    mailsLinks: mailsLinks(console),
  };
}
