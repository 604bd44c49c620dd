import { operator } from '../../events/recorded.ts';
import type { ImportOptions } from '../../src/imports/import.ts';
import type { SourceName } from '../../src/imports/source-names.ts';

/** An import into an account without domains of its own. */
export const optionsFor = (owner: string, source: SourceName): ImportOptions => ({
  owner: { account: owner, mode: 'live' },
  source,
  actor: operator,
  isDryRun: false,
  isPartial: false,
  clock: () => new Date(),
  ownUrls: [],
  domain: undefined,
  domains: new Set(),
});
