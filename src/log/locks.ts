/**
 * Every advisory lock that is taken in the log's database, so that no two mean the same number. Which numbers does not
 * matter, but instances of different versions must agree: never change one.
 */
export const locks = {
  /** Held from drawing positions until the commit; see append.ts. */
  append: 7_226_564,
  migrate: 7_226_565,
  replayState: 7_226_566,
  partitions: 7_226_567,
  relay: 7_226_568,
  counters: 7_226_569,
  /** Together with a hash of the account: which of its creates is at work. */
  quota: 7_226_570,
  analytics: 7_226_571,
  webhooks: 7_226_572,
  replayAnalytics: 7_226_573,
  retention: 7_226_574,
} as const;
