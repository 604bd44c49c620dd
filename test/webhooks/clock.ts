/** A clock that a test can advance. */
export function movableClock() {
  let offsetMs = 0;
  return {
    clock: () => new Date(Date.now() + offsetMs),
    forward: (ms: number) => {
      offsetMs += ms;
    },
    /** Advances to 1 ms after `time`. */
    to: (time: string) => {
      offsetMs = Math.max(offsetMs, Date.parse(time) + 1 - Date.now());
    },
  };
}
