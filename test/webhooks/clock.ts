/** A clock that a test can put forward. */
export function movableClock() {
  let ahead = 0;
  return {
    clock: () => new Date(Date.now() + ahead),
    forward: (ms: number) => {
      ahead += ms;
    },
    /** Until just after a moment. */
    to: (time: string) => {
      ahead = Math.max(ahead, Date.parse(time) + 1 - Date.now());
    },
  };
}
