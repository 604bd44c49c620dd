import { every, type Loop } from '../lib/every.ts';
import { lowerPriority } from '../lib/lower-priority.ts';
import { childrenOf } from './processes.ts';

const roundMs = 1_000;
/** Longer than Linux makes users other than root wait between two sessions. */
const nextSessionMs = 150;

/**
 * Lowers the processes of a server below redirects, again and again: Postgres starts one for each connection, in a session of its
 * own. Ten busy connections would get ten times the CPU of all redirects.
 */
export function lowerSessions(serverPid: () => number | undefined): Loop {
  let lowered = new Set<number>();
  return every(
    roundMs,
    async () => {
      const pid = serverPid();
      const running = pid === undefined ? [] : [pid, ...childrenOf(pid)];
      lowered = new Set(running.filter((one) => lowered.has(one) || lowerPriority(one)));
      return lowered.size < running.length ? nextSessionMs : roundMs;
    },
    { onError: () => {}, ref: false },
  );
}
