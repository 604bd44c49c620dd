import { getPriority, setPriority } from 'node:os';

/** A third of the share that a process of normal priority gets, so that analytics still advance on a busy machine. */
const niceness = 5;

/**
 * Lowers the priority of this process, so that redirects go first. To be called before anything that starts threads,
 * which inherit it. A process that was started with a lower one keeps it: only root may raise it.
 */
export function lowerPriority(): void {
  setPriority(Math.max(niceness, getPriority()));
}
