/** Why a request was ended that took too long. */
export const tooLate = new Error('it took too long');

/** Looks so many times while a request may last: that much later than asked for may it end. */
const looks = 100;

/** Ends what takes longer than it may. One timer for all of it: there are thousands of requests a second. */
export function createWatch(ms: number) {
  // In the order in which they began, which is the one in which they come to be late.
  const since = new Map<AbortController, number>();
  let timer: NodeJS.Timeout | undefined;

  function look(): void {
    const now = performance.now();
    for (const [abort, began] of since) {
      if (now - began < ms) break;
      since.delete(abort);
      abort.abort(tooLate);
    }
    if (since.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    begin(abort: AbortController, now: number): void {
      since.set(abort, now);
      timer ??= setInterval(look, ms / looks);
    },
    end(abort: AbortController): void {
      since.delete(abort);
    },
  };
}
