import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

const nice = 10;

/**
 * Lets this process wait while redirects need the machine. Linux weighs sessions against each other first and the
 * processes of each only then, so where it does, a session's own priority must be lowered; this process must have one to
 * itself. It comes before anything that starts threads: they take the priority of the one that starts them.
 */
export function stepBack(): void {
  setPriority(nice);
  try {
    writeFileSync('/proc/self/autogroup', String(nice));
  } catch {
    // A kernel that does not weigh sessions.
  }
}
