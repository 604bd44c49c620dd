import type { Link } from './link.ts';
import type { Mode } from './plans.ts';
import type { Targeting } from './targeting/targeting.ts';

/** What an edge needs to redirect and record a scan of a code. */
export interface Route {
  code: string;
  account: string;
  mode: Mode;
  short_code: Link;
  destination_url: string;
  revision: number;
  status: 'active' | 'paused' | 'draft' | 'deleted';
  /** Whether the operator has taken the code down. */
  disabled: boolean;
  /** The version of the code's stream that this route reflects. */
  version: number;
  /** The key under which visitors are hashed, encrypted with SECRET_KEY; empty once the code is deleted. */
  sealed_key: Uint8Array;
  /** The argon2id hash of the password that the link asks for; only for codes that have one. */
  password_hash?: string | undefined;
  /** Only for codes that have some. */
  targeting?: Targeting | undefined;
}

/** The routes that an edge has in memory, and the other spellings by which they were requested. */
export interface RouteSnapshot {
  routes: Iterable<Route>;
  /** The short code as requested, and the given one that differs from it only in case. */
  aliases: Iterable<[string, string]>;
}
