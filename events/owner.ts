import type { Mode } from './plans.ts';

/** An account in one mode: each mode has codes, scans and a webhook that do not exist for the other. */
export interface Owner {
  account: string;
  mode: Mode;
}

/** The owner as one text, for maps and encryption contexts. */
export const ownerKey = ({ account, mode }: { account: string; mode: string }) => `${account}/${mode}`;
