/**
 * The only limits of time in the tests: long enough for a machine ten times slower than the slowest one seen, because a test
 * that fails only takes longer to do so.
 */

/** A condition that a test waits for. */
export const conditionTimeoutMs = 180_000;

/** A test or a hook. Longer than a condition, whose error says more than this one. */
export const testTimeoutMs = 600_000;

/** The TIMEOUT_SCALE of the services of the tests. */
export const timeoutScale = 20;

/** With `EDGE_DURABILITY=log`, the default here, a redirect is then in Postgres, however long its commit takes. */
export const patient = { commitStallMs: 60_000 };
