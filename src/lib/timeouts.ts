/** How long the service waits for its servers and processes. `TIMEOUT_SCALE` multiplies all of them. */
const scalable = {
  /** Opening a connection to Postgres. */
  postgresConnectMs: 5_000,
  /** One statement; Postgres cancels it. */
  postgresStatementMs: 15_000,
  /** A statement without any response. Longer than `postgresStatementMs`, so that Postgres reports a slow statement first. */
  postgresResponseMs: 20_000,
  /** A redirect whose route is not in memory; shorter if the snapshot has the route. */
  routeLookupMs: 2_000,
  routeLookupWithSnapshotMs: 250,
  /** A redirect of a code with `max_scans`. */
  limitedScansMs: 2_000,
  /** A request of the API, unless its operation has a timeout of its own. */
  apiMs: 8_000,
  /**
   * A connection without a byte in either direction, also while its request is handled: then it is closed without a response.
   * Longer than every other timeout of a request, except those that extend it.
   */
  idleConnectionMs: 20_000,
  /** A search of an operator in all accounts, codes or people; Postgres cancels it. Shorter than `apiMs`. */
  operatorSearchMs: 5_000,
  /** A revert: thousands of codes are read, written and applied by the short links before the response. */
  revertMs: 30_000,
  /** The first proof of a process loads the decoders, and up to 32 others may be before it. */
  preflightMs: 20_000,
  /** The proofs of all codes of a create; what is not proofed by then is created with a warning. */
  proofMs: 5_000,
  /** Decoding an uploaded logo, and the other jobs of the renderer; the first job of a process loads its modules. */
  logoMs: 6_000,
  imageMs: 6_000,
  proofJobMs: 20_000,
  sheetPageMs: 6_000,
  /** After this time a page of the feed ends where it is. */
  feedPageMs: 1_500,
  /** All reads of one request for the feed. */
  feedMs: 8_000,
  /** A read of analytics; ClickHouse cancels it. */
  analyticsReadMs: 10_000,
  /** Counting the events of a webhook replay. */
  replayCountMs: 2_000,
  /** The projection `webhooks`, before a delivery is resent. */
  webhooksProjectionMs: 5_000,
  /** A slot for an example event of a webhook. */
  exampleSlotMs: 5_000,
  /** One query of a DNS server, for the proof of a custom domain. */
  dnsQueryMs: 2_000,
  /** The whole check of the proof of a custom domain: its DNS records, and a request to it. */
  domainCheckMs: 10_000,
  /** One request to the destination of a code, and all requests of one check of it. */
  destinationRequestMs: 8_000,
  destinationCheckMs: 20_000,
  /** The mail server: its greeting, and then a whole mail. */
  mailConnectMs: 10_000,
  mailSendMs: 60_000,
  /** One request to the OpenID provider; a sign-in makes up to four. */
  oidcMs: 5_000,
  /** Another process of this machine, which confirms a change of a code; later it may have died, and is ignored. */
  peerMs: 300,
  /** A further process, which joins the port without Postgres or NATS after this time. */
  joinPortMs: 2_000,
  /** The first process, before it starts the others. */
  startChildrenMs: 2_000,
  /** The first table of analytics, before the service is ready without it. */
  firstTableMs: 5_000,
  /** A server, when `/readyz` checks it. */
  probeMs: 2_000,
  /** A server, when `./scanlog doctor` checks it. */
  doctorMs: 10_000,
  /** ClickHouse, while a long statement waits for it. */
  warehousePingMs: 5_000,
  /** An embedded server, from its launch until it answers; then what is not up is stopped and reported. */
  partStartMs: 90_000,
  /** One attempt to reach an embedded server that starts. */
  partProbeMs: 1_000,
  /** An embedded server that stops; then it is killed. */
  partStopMs: 10_000,
  /** The embedded ClickHouse, which then abandons its queries. Shorter than `partStopMs`. */
  clickhouseStopMs: 4_000,
  /** The projections, before `verify` compares them with the log. */
  verifyCatchUpMs: 30_000,
  /** Before a process removes the first old scan, so that a setting that is too short can be corrected. */
  retentionStartMs: 60_000,
};

/** What clients and receivers of webhooks are bound to, and how soon another process takes over. Never multiplied. */
const fixed = {
  /** The body of a request. Shorter than `apiMs`, so that a slow client receives this error and not a 503. */
  bodyMs: 6_000,
  /** A whole delivery, from the DNS lookup to the last byte of the response. */
  webhookSendMs: 15_000,
  /** Postgres counts as unavailable while a commit takes longer: redirects then wait only for the disk. */
  commitStallMs: 1_000,
  /** Without a response from Postgres for this long, a leader steps down. After twice as long Postgres releases its lock. */
  leaderHeartbeatMs: 5_000,
};

export type Timeouts = typeof scalable & typeof fixed;

/**
 * The timeouts of this process. Read when they are needed, because `setTimeouts` changes them.
 *
 * @example
 * await withTimeout(query, timeouts.probeMs, () => { throw new Error('no response'); });
 */
export const timeouts: Timeouts = { ...scalable, ...fixed };

/** Multiplies the timeouts of this process, before it starts anything; tests also set single ones. */
export function setTimeouts(scale: number, own: Partial<Timeouts> = {}): void {
  for (const name of Object.keys(scalable) as (keyof typeof scalable)[]) timeouts[name] = scalable[name] * scale;
  Object.assign(timeouts, fixed, own);
}

/** The maximum that Bun accepts. */
const maxIdleSeconds = 255;

/** A timeout as Bun takes it for an idle connection. */
export const idleSeconds = (ms: number): number => Math.min(Math.ceil(ms / 1_000), maxIdleSeconds);
