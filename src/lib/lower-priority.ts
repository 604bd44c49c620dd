import { getPriority, setPriority } from 'node:os';

/** A third of the CPU share of a process with normal priority: enough for analytics to advance on a busy machine. */
const niceness = 5;

/**
 * Lowers the priority of this process below the priority of redirects. Call it before anything that starts threads: they
 * inherit it. A priority that is already lower stays, since only root may raise it.
 */
export function lowerPriority(): void {
  setPriority(Math.max(niceness, getPriority()));
}
