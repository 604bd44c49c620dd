import { writeFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { codeOf } from './errors.ts';

/** A third of what redirects get when all want everything, so that analytics still get somewhere. */
const nice = 5;

/**
 * Lets this process wait while redirects need the machine. Linux weighs sessions against each other first and the
 * processes of each only then, so where it does, a session's own priority must be lowered; this process must have one to
 * itself. It comes before anything that starts threads: they take the priority of the one that starts them.
 */
export function stepBack(): void {
  // One that was started lower stays there: coming up again is not for everybody.
  setPriority(Math.max(nice, getPriority()));
  lowerSession();
}

function lowerSession(tries = 5): void {
  try {
    writeFileSync('/proc/self/autogroup', String(nice));
  } catch (error) {
    // Any other: a kernel that does not weigh sessions. It lets all but root ask ten times a second, together.
    if (codeOf(error) !== 'EAGAIN' || tries === 1) return;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    lowerSession(tries - 1);
  }
}
