/**
 * Every advisory lock in the log's database. The numbers are arbitrary, but must be unique, and must never change, because
 * instances of different versions share them.
 */
export const locks = {
  /** Held from the assignment of positions until the commit; see append.ts. */
  append: 7_226_564,
  migrate: 7_226_565,
  replayState: 7_226_566,
  partitions: 7_226_567,
  relay: 7_226_568,
  counters: 7_226_569,
  /** Combined with a hash of the account, it serializes the creates of that account. */
  quota: 7_226_570,
  analytics: 7_226_571,
  webhooks: 7_226_572,
  replayAnalytics: 7_226_573,
  /** Held by every transaction that removes scans for the retention, or changes the catalogue of archive files. */
  retention: 7_226_574,
  /** Combined with a hash of the account, it serializes the sign-ins of that account. */
  signIns: 7_226_575,
  archive: 7_226_576,
  /** Held while the erasure or the retention rewrites an archive file. */
  rewriteArchive: 7_226_577,
  /** Held while a partition is counted and dropped, and shared by transactions that delete scans of deleted accounts. */
  dropPartition: 7_226_578,
  /** Held by creates of codes with given short codes while they check that no other differs only in case. */
  givenShortCodes: 7_226_579,
  /** Held by every step of an erasure. This one and `retention` are shared by readers of the whole log (history.ts). */
  erasure: 7_226_580,
  /** Held by the process that checks the proofs of custom domains. */
  domainChecks: 7_226_581,
  /** Held by the process that checks alerts. */
  alerts: 7_226_585,
  /** Held by the process that sends mails, and by the one that makes the reports that are due. */
  mail: 7_226_590,
  reports: 7_226_591,
  /** Held while an account is imported from a file. */
  accountImport: 7_226_592,
} as const;
