import { readFileSync, writeFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { codeOf } from './errors.ts';

/** A third of what redirects get when all want everything, so that analytics still get somewhere. */
const nice = 5;

/**
 * Lets this process wait while redirects need the machine. Linux weighs sessions against each other first and the
 * processes of each only then, so where it does, the session's own priority is lowered as well, if this process began
 * it: that of a terminal is not for us to lower. It comes before anything that starts threads: they take the priority
 * of the one that starts them.
 */
export function stepBack(): void {
  // One that was started lower stays there: coming up again is not for everybody.
  setPriority(Math.max(nice, getPriority()));
  try {
    if (ownSession() === process.pid) lowerSession();
  } catch {
    // A kernel that does not weigh sessions.
  }
}

/** Who began the session of this process: the fourth field behind its name, which may have blanks and brackets. */
function ownSession(): number {
  return Number(readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ')[3]);
}

function lowerSession(tries = 5): void {
  try {
    writeFileSync('/proc/self/autogroup', String(nice));
  } catch (error) {
    // It lets all but root ask ten times a second, together.
    if (codeOf(error) !== 'EAGAIN' || tries === 1) throw error;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    lowerSession(tries - 1);
  }
}
