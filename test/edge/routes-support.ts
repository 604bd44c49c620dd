import type { CodeChange } from '../../events/code.ts';
import type { CodeEvent } from '../../events/code-events.ts';
import type { Recorded } from '../../events/recorded.ts';
import { createAccount } from '../../src/accounts/accounts.ts';
import { change } from '../../src/codes/change.ts';
import { createCodes } from '../../src/codes/create.ts';
import { toLocation } from '../../src/edge/location.ts';
import { type KnownRoute, Routes } from '../../src/edge/routes.ts';
import { createMetrics } from '../../src/lib/metrics.ts';
import type { Sql } from '../../src/lib/sql.ts';
import type { TestDatabase } from '../support/database.ts';
import { testBox } from '../support/secret-box.ts';
import { type ManualTimers, manualTimers } from '../support/timers.ts';

export const by = { actor: 'operator', now: new Date() };

export interface Owned {
  id: string;
  short_code: string;
  owner: { account: string; mode: 'live' };
}

export async function loadRoute(routes: Routes, shortCode: string): Promise<KnownRoute> {
  const found = routes.get(shortCode) ?? (await routes.load(shortCode));
  if (found === 'unknown') throw new Error(`${shortCode} is unknown`);
  return found;
}

/** Codes in a database, and routes that are read from it, whose caches expire only when a test moves the time. */
export const codesIn = (database: TestDatabase) => ({
  async given(fields: { status?: 'active' | 'draft'; short_code?: string } = {}): Promise<Owned> {
    const { id: account } = await createAccount(database.sql, { name: 'Test', plan: 'enterprise', now: by.now });
    const owner = { account, mode: 'live' as const };
    const request = { name: 'Menu', destination_url: 'https://example.com/1', ...fields };
    const [created] = await database.sql.begin((tx) => createCodes(tx, testBox, owner, [request], by));
    if (created === undefined) throw new Error('no code was created');
    return { id: created.code.id, short_code: created.code.short_code, owner };
  },
  patch: async ({ id, owner }: Owned, wanted: CodeChange): Promise<Recorded<CodeEvent>[]> =>
    (await change(database.sql, owner, id, wanted, by)).events,
  routesOn: (
    sql: Sql = database.sql,
    options: { maxRoutes?: number; maxRouteBytes?: number; timers?: ManualTimers } = {},
  ) => new Routes({ sql, box: testBox, toLocation, metrics: createMetrics(), timers: manualTimers(), ...options }),
  slow: () => slow(database),
});

/** A database whose results can be delayed after the query has run. */
function slow(database: TestDatabase) {
  let gate: Promise<void> | undefined;
  let open = () => {};
  let queries = 0;
  let hasRun = () => {};
  const sql = new Proxy(database.sql, {
    apply(target, _, given: Parameters<Sql>) {
      queries++;
      const held = gate;
      return target(...given).then(async (rows) => {
        hasRun();
        await held;
        return rows;
      });
    },
  });
  return {
    sql,
    /** Calls `load`, and resolves when its query has run and its result is delayed. */
    async holdBack<T>(load: () => Promise<T>): Promise<{ response: Promise<T> }> {
      gate = new Promise((resolve) => {
        open = resolve;
      });
      const run = new Promise<void>((resolve) => {
        hasRun = resolve;
      });
      const response = load();
      await run;
      return { response };
    },
    release() {
      open();
      gate = undefined;
    },
    queries: () => queries,
  };
}
