import { setImmediate } from 'node:timers/promises';

const TURN_MS = 3;

/** Long work cut into turns, so that whatever else waits for the event loop gets its turn too. */
export interface Turns {
  isOver(): boolean;
  next(): Promise<void>;
}

export function takeTurns(): Turns {
  let started = performance.now();
  return {
    isOver: () => performance.now() - started >= TURN_MS,
    next: async () => {
      await setImmediate();
      started = performance.now();
    },
  };
}
