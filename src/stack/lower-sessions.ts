import { edgeConnection, requestConnection } from '../lib/connection-names.ts';
import { every } from '../lib/every.ts';
import { leaveFirstCpu } from '../lib/leave-first-cpu.ts';
import { lowerPriorityOf, nextSessionMs } from '../lib/lower-priority.ts';
import { connectAsAdmin } from './postgres.ts';

const roundMs = 1_000;
const idleSeconds = 10;

/**
 * By the name of a connection; all others get the usual one. A redirect waits for its append, and at times for a request that has
 * the append lock: connections of edges stay as they are, and those of requests are in between.
 */
const niceness: ReadonlyMap<string | undefined, number> = new Map([
  [edgeConnection, 0],
  [requestConnection, 5],
]);
/** Commits wait for some of Postgres' own processes, which have no name. */
const usesAllCpus = (name: string | undefined) => name === undefined || name === '' || niceness.has(name);

/** The embedded Postgres. */
interface PostgresServer {
  /** The ids of its processes at the moment. */
  processes(): number[];
  port: number;
  /** Of the superuser. */
  password: string;
}

/**
 * Lowers the processes of Postgres below redirects, again and again: it starts one for each connection, in a session of its own.
 * Ten busy connections would get ten times the CPU of all redirects.
 */
export function lowerSessions({ processes, port, password }: PostgresServer): { stop(): Promise<void> } {
  const sql = connectAsAdmin(port, password, { idleSeconds });
  /** Processes that have the priority that they should have. */
  let settled = new Set<number>();
  /** Processes of the round before. */
  let known = new Set<number>();
  const rounds = every(
    roundMs,
    async () => {
      const running = processes();
      const others = running.filter((one) => !settled.has(one));
      const names = others.length === 0 ? noNames : await connectionNames(sql);
      const settle = (one: number) => {
        const name = names.get(one);
        // A process that has just started is not listed; some of Postgres' own never are.
        if (name === null || (name === undefined && !known.has(one))) return false;
        if (!usesAllCpus(name)) leaveFirstCpu(one);
        return lowerPriorityOf(one, niceness.get(name));
      };
      settled = new Set(running.filter((one) => settled.has(one) || settle(one)));
      known = new Set(running);
      return settled.size < running.length ? nextSessionMs : roundMs;
    },
    { onError: () => {}, ref: false },
  );
  return {
    async stop() {
      await rounds.stop();
      await sql.end({ timeout: 1 });
    },
  };
}

/** Names of connections by process; null for a client that is not signed in yet, and '' for processes of Postgres' own. */
type Names = Map<number, string | null>;
const noNames: Names = new Map();

async function connectionNames(sql: ReturnType<typeof connectAsAdmin>): Promise<Names> {
  const rows = await sql<{ pid: number; name: string | null }[]>`
    SELECT pid, CASE WHEN state IS DISTINCT FROM 'starting' THEN application_name END AS name FROM pg_stat_activity`;
  return new Map(rows.map(({ pid, name }) => [pid, name]));
}
